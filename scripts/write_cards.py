"""Put what was measured into the model cards: python -m scripts.write_cards [FOLDER]

Rewrites in each card the sections this file makes (losses, what the family shows, as a draft, samples) from family.json
and baselines.json in benchmarks/results and from the models themselves; the others are written by hand and stay. FOLDER
holds the four models (assets/models). To be run after benchmarks.family and benchmarks.baselines, with --out there.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.family_goals import against_the_quickest
from specviz.training.samples import samples

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FAMILY, BASELINES = RESULTS / "family.json", RESULTS / "baselines.json"
TARGET = "wren-base"
LOSSES = {"tinystories": "stories", "python": "Python", "structured": "structured", "prose": "prose"}
KINDS = ("story", "code", "structured", "prose")
NAMES = {"story": "stories", "structured": "structured"}
RATES = {"per_judgement_rate": "accepted / judged", "acceptance_rate": "accepted / drafted"}

Result = Mapping[str, Any]  # the JSON


def main() -> None:
    """Rewrite every card."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "models"
    result = read_results()
    for name in result["losses"]:
        path = folder / name / "README.md"
        card = path.read_text(encoding="utf-8")
        for title, body in measured_sections(name, result).items():
            card = with_section(card, title, body)
        card = with_section(
            card, "Samples", "Temperature 0.8, unpicked; the prompt ends at ⟨…⟩.\n\n" + samples(folder / name)
        )
        path.write_text(card, encoding="utf-8")


def read_results() -> Result:
    """What `benchmarks.family` measured, with what `benchmarks.baselines` did under that name."""
    result: dict[str, Any] = json.loads(FAMILY.read_text(encoding="utf-8"))
    return result | {"baselines": json.loads(BASELINES.read_text(encoding="utf-8"))}


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
    said = """Nats per token on held-out text: the last 2 % of each kind's documents, 16,384 tokens of it at most, in
        rows of 512. The first stage of wren-base's training held out other documents and had read most of these; no
        later stage has, but every model here descends from it, so the figures flatter them."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def shown(result: Result) -> str:
    """What was aimed at, met or missed; what the default pair gains; and what each speedup is held against."""
    goals = [*result["goals"], *map(asdict, against_the_quickest(result["baselines"]["speedups"]))]
    rows = [[goal["what"], goal["wanted"], goal["found"], "met" if goal["met"] else "missed"] for goal in goals]
    parts = [measured_how(result), table(["what was aimed at", "wanted", "found", ""], rows), default_pair(result)]
    return "\n\n".join([*parts, held_against(result["baselines"]), *baseline_tables(result["baselines"])])


def default_pair(result: Result) -> str:
    """The pair and format a visitor meets first, in one sentence."""
    names = {"target": TARGET, "draft": "wren-nano", "target_dtype": "float32"}
    pair = next(pair for pair in result["pairs"] if names.items() <= pair.items())
    story, structured = (pair["kinds"][kind]["greedy"] for kind in ("story", "structured"))
    return paragraph(
        f"""Each line names the draft and the format that do best in it. The pair a visitor meets first, wren-nano with
        the target in float32, has c = {pair["c"]:.2f}, is kept {story["per_judgement_rate"]:.2f} of the time on stories
        and {structured["per_judgement_rate"]:.2f} on structured text, and gains {story["speedup"]:.2f} × and
        {structured["speedup"]:.2f} × there (greedy, at its best γ)."""
    )


def held_against(baselines: Result) -> str:
    """Why there is more than one speedup, and how these were taken."""
    options = baselines["options"]
    return paragraph(
        f"""A speedup is only as good as what it is held against. Taken in the same turns by `benchmarks/baselines.py`
        (greedy, {options["prompts"]} prompts of each kind, at the best of the draft lengths
        {", ".join(map(str, options["gammas"]))}): every draft with the target in both formats, as it is and without
        the four layers it was grown by. The first figure is over plain decoding in the same format, the one in brackets
        over the quicker of the two plain formats."""
    )


def baseline_tables(baselines: Result) -> Iterator[str]:
    """A table for each kind of text."""
    for kind, said in NAMES.items():
        speedups = [row for row in baselines["speedups"] if row["kind"] == kind]
        drafts = list(dict.fromkeys(row["draft"] for row in speedups))
        rows = []
        for plain in (row for row in baselines["plain"] if row["kind"] == kind):
            way = {name: plain[name] for name in ("layers", "dtype")}
            ours = [row for row in speedups if way.items() <= row.items()]
            best = [max((row for row in ours if row["draft"] == draft), key=lambda row: row["own"]) for draft in drafts]
            cells = [f"{row['own']:.2f} ({row['quickest']:.2f})" for row in best]
            rows.append([f"{way['layers']} layers, {way['dtype']}", f"{plain['ms_per_token']:.2f}", *cells])
        yield table([said, "plain, ms a token", *drafts], rows)


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
    fewer = [f" ({number} of {kind})" for kind, number in result["prompts"].items() if number < options["prompts"]]
    return paragraph(
        f"""Measured by `benchmarks/family.py` on one thread ({machine["machine"]},
        {machine["instructions"]}): {options["tokens"]} tokens, drafts in float32, prompts from held-out documents and
        the app's workloads, {options["prompts"]} of each kind{"".join(fewer)} for the rates (at draft length 4) and
        {options["timed"]} for the speedups, which are medians of ratios over plain decoding in the same format, taken
        turn by turn, at the best of the draft lengths {lengths}. Not all pairs were measured in one sitting, so compare
        speedups, not times, between them. Other machines differ, and so does what pays: the app measures yours."""
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
