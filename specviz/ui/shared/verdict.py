"""How a verdict looks: an icon and a colour beside its words, never the colour alone."""

from specviz.core.verdict import Verdict

_COLORS = {"helps": "green", "neutral": "gray", "hurts": "orange"}
_ICONS = {"helps": ":material/trending_up:", "neutral": ":material/trending_flat:", "hurts": ":material/trending_down:"}


def headline(verdict: Verdict, end: str = ".") -> str:
    """The verdict's headline as Markdown; `end` closes the sentence."""
    if not verdict.trusted:
        return f":material/error: :gray[**{verdict.headline}{end}**]"
    return f"{_ICONS[verdict.label]} :{_COLORS[verdict.label]}[**{verdict.headline}{end}**]"
