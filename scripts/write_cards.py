"""Put what was measured into the model cards: python -m scripts.write_cards [FOLDER]

Rewrites in each card the sections this file makes (losses, what the family shows, as a draft, samples) from
benchmarks/results/family.json and from the models themselves; the others are written by hand and stay. FOLDER holds the
four models (assets/models). To be run after `python -m benchmarks.family`.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from specviz.training.samples import samples

ROOT = Path(__file__).resolve().parents[1]
FAMILY = ROOT / "benchmarks" / "results" / "family.json"
TARGET = "wren-base"
LOSSES = {"tinystories": "stories", "python": "Python", "structured": "structured", "prose": "prose"}
KINDS = ("story", "code", "structured", "prose")
RATES = {"per_judgement_rate": "accepted / judged", "acceptance_rate": "accepted / drafted"}

Result = Mapping[str, Any]  # the JSON


def main() -> None:
    """Rewrite every card."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "models"
    result = json.loads(FAMILY.read_text(encoding="utf-8"))
    for name in result["losses"]:
        path = folder / name / "README.md"
        card = path.read_text(encoding="utf-8")
        for title, body in measured_sections(name, result).items():
            card = with_section(card, title, body)
        card = with_section(
            card, "Samples", "Temperature 0.8, unpicked; the prompt ends at ⟨…⟩.\n\n" + samples(folder / name)
        )
        path.write_text(card, encoding="utf-8")


def measured_sections(name: str, result: Result) -> dict[str, str]:
    """Title and Markdown of each section of this model's card that comes from the JSON."""
    sections = {"Losses": losses(name, result)}
    if name == TARGET:
        return sections | {"What the family shows": shown(result)}
    return sections | {"As a draft": as_a_draft(name, result)}


def with_section(card: str, title: str, body: str) -> str:
    """The card with this section's text exchanged.

    Raises:
        ValueError: the card has no such section.
    """
    section = re.compile(rf"(?<=^## {re.escape(title)}\n).*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    if not section.search(card):
        raise ValueError(f"The card has no section {title!r}.")
    return section.sub(lambda _: f"\n{body.strip()}\n\n", card, count=1).rstrip() + "\n"


def losses(name: str, result: Result) -> str:
    """Held-out losses, beside the target's."""
    names = [name] if name == TARGET else [name, TARGET]
    rows = [[one, *(f"{result['losses'][one][domain]:.2f}" for domain in LOSSES)] for one in names]
    said = """Nats per token on held-out text: the last 2 % of each kind's documents, in rows of 512 tokens. The
        training told of above never saw it; the first family's had seen most of it, since it held out other documents,
        and every model here descends from that family, so the figures flatter them."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def shown(result: Result) -> str:
    """What was aimed at, met or missed, and what the exact default gains, where another format may gain more."""
    rows = [
        [goal["what"], goal["wanted"], goal["found"], "met" if goal["met"] else "missed"] for goal in result["goals"]
    ]
    goals = table(["what was aimed at", "wanted", "found", ""], rows)
    return f"{measured_how(result)}\n\n{goals}\n\n{paragraph(default_pair(result))}"


def default_pair(result: Result) -> str:
    """The pair and format a visitor meets first, in one sentence."""
    names = {"target": TARGET, "draft": "wren-nano", "target_dtype": "float32"}
    pair = next(pair for pair in result["pairs"] if names.items() <= pair.items())
    story, structured = (pair["kinds"][kind]["greedy"] for kind in ("story", "structured"))
    return f"""In float32, which is exact and the app's default, wren-nano has c = {pair["c"]:.2f} and
        gains {story["speedup"]:.2f} × on stories and {structured["speedup"]:.2f} × on structured text
        (greedy, at its best γ)."""


def as_a_draft(name: str, result: Result) -> str:
    """A table for each target it was measured with."""
    return "\n".join(
        [
            measured_how(result),
            "",
            *(line for pair in result["pairs"] if pair["draft"] == name for line in pair_table(pair)),
        ]
    )


def measured_how(result: Result) -> str:
    """Where and how, for a reader who wants to measure it again."""
    machine, options = result["machine"], result["options"]
    lengths = ", ".join(map(str, options["gammas"]))
    return paragraph(
        f"""Measured by `benchmarks/family.py` on one thread ({machine["machine"]},
        {machine["instructions"]}): {options["tokens"]} tokens, drafts in float32, prompts from held-out documents and
        the app's workloads, {options["prompts"]} of each kind for the rates (at draft length 4) and {options["timed"]}
        for the speedups, which are medians of ratios taken turn by turn, at the best of the draft lengths
        {lengths}. Other machines differ, and so does what pays: the app measures yours."""
    )


def paragraph(text: str) -> str:
    """Lines of the cards' width."""
    return fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def pair_table(pair: Mapping[str, Any]) -> Iterator[str]:
    """Rates and speedups by kind of text."""
    yield (
        f"For {pair['target']} in {pair['target_dtype']}: a target step takes {pair['step_ms']} ms, "
        f"c = {pair['c']:.2f} (one draft step, in target steps), v(5) = {pair['v5']:.2f}."
    )
    yield ""
    rows = []
    for way in pair["kinds"][KINDS[0]]:
        found = [pair["kinds"][kind][way] for kind in KINDS]
        rows += [[f"{way}: {said}", *(f"{one[rate]:.2f}" for one in found)] for rate, said in RATES.items()]
        rows.append([f"{way}: speedup (at γ)", *(f"{one['speedup']:.2f} ({one['best_gamma']})" for one in found)])
    yield table(["", *KINDS], rows)
    yield ""


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    main()
