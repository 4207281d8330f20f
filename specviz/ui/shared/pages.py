"""The pages of the app, in the order of the menu: one list for the menu and for previews of links."""

from dataclasses import dataclass

PROJECT = "specviz"


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    name: str  # of its file in pages/, and its path; the first page is also at "/"
    title: str
    description: str  # one or two sentences for someone who has not opened it

    @property
    def file(self) -> str:
        """Beside app.py."""
        return f"pages/{self.name}.py"

    @property
    def full_title(self) -> str:
        """As a browser's tab and a preview show it."""
        return f"{self.title} · {PROJECT}"


PAGES = (
    Page(
        "watch",
        "Watch",
        "Speculative decoding, token by token: a small model drafts, a big model checks the whole draft in one pass.",
    ),
    Page("learn", "Learn", "Speculative decoding as a story in small steps, with a quiz and the vocabulary."),
    Page("race", "Race", "Is it really faster? Both decoders on the same prompts, timed alternately and played back."),
    Page(
        "helps",
        "When it helps",
        "Measurements over texts, draft models and draft lengths: where speculative decoding pays, and where not.",
    ),
    Page("worksheet", "Worksheet", "Does a draft pay? Enter counts and costs, and get the break-even and the speedup."),
    Page(
        "proof",
        "Same quality",
        "The output is the target model’s own: checked token for token and draw for draw, with rules that fail.",
    ),
    Page("play", "Be the draft", "You write the next words, the target model checks them, and a small model competes."),
    Page("class", "Class board", "A class joins with a code, and its rounds and quiz answers arrive on one board."),
)
