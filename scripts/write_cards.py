"""Write the measured figures into the model cards: python -m scripts.write_cards [FOLDER]

In each card, it replaces the sections "Losses", "What the family shows", "As a draft" and "Samples". They are made from
benchmarks/results/family.json and from the models. All other sections are written by hand and stay. FOLDER holds the
four models (assets/models). Run it after benchmarks.family with --out.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from specviz.core.settings import DecodeSettings
from specviz.core.texts import spell_count
from specviz.data.prompts.workloads import find_workload
from specviz.decoding import autoregressive_decode
from specviz.models.loading import load_model

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FAMILY = RESULTS / "family.json"
TARGET = "wren-base"
LOSSES = {"tinystories": "stories", "python": "Python", "structured": "structured", "prose": "prose"}
KINDS = ("story", "code", "structured", "prose")
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
            card,
            "Samples",
            "Temperature 0.8, not selected; the prompt ends at ⟨…⟩.\n\n" + samples(folder / name),
        )
        path.write_text(card, encoding="utf-8")


def read_results() -> Result:
    """The results of `benchmarks.family`."""
    result: dict[str, Any] = json.loads(FAMILY.read_text(encoding="utf-8"))
    return result


def measured_sections(name: str, result: Result) -> dict[str, str]:
    """Title and Markdown of each section of this model's card that comes from the JSON."""
    sections = {"Losses": losses(name, result)}
    if name == TARGET:
        return sections | {"What the family shows": shown(result)}
    return sections | {"As a draft": as_a_draft(name, result)}


def with_section(card: str, title: str, body: str) -> str:
    """The card with a new text for this section.

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
    said = """Nats per token on held-out text: the last 2 % of each kind's documents, at most 16,384 tokens, in rows
        of 512. The first stage of wren-base's training held out other documents and read most of these. No later stage
        did, but every model here comes from that stage, so the figures look better than they are."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def shown(result: Result) -> str:
    """How it was measured, and the gain of the default pair."""
    return "\n\n".join([measured_how(result), default_pair(result)])


def default_pair(result: Result) -> str:
    """The pair and format that a visitor sees first, in one sentence."""
    names = {"target": TARGET, "draft": "wren-nano", "target_dtype": "float32"}
    pair = next(pair for pair in result["pairs"] if names.items() <= pair.items())
    story, structured = (pair["kinds"][kind]["greedy"] for kind in ("story", "structured"))
    return paragraph(
        f"""The pair that a visitor sees first is wren-nano with the target in float32. It has c = {pair["c"]:.2f}. Its
        per-judgement rate is {story["per_judgement_rate"]:.2f} on stories and {structured["per_judgement_rate"]:.2f} on
        structured text, and its speedup {story["speedup"]:.2f} × and {structured["speedup"]:.2f} × (greedy, at its best
        γ). The cards of the drafts have the other pairs."""
    )


def as_a_draft(name: str, result: Result) -> str:
    """A table for each target that it was measured with."""
    return "\n".join(
        [
            measured_how(result),
            "",
            *(line for pair in result["pairs"] if pair["draft"] == name for line in pair_table(pair, result)),
        ]
    )


def measured_how(result: Result) -> str:
    """Where and how it was measured, for a reader who wants to repeat it."""
    machine, options = result["machine"], result["options"]
    lengths = ", ".join(map(str, options["gammas"]))
    fewer = [f" ({number} of {kind})" for kind, number in result["prompts"].items() if number < options["prompts"]]
    return paragraph(
        f"""Measured by `benchmarks/family.py` on one thread ({machine["machine"]},
        {machine["instructions"]}): {options["tokens"]} tokens, drafts in float32, prompts from held-out documents and
        the app's workloads, {options["prompts"]} of each kind{"".join(fewer)} for the rates (at draft length 4) and
        {options["timed"]} for the speedups. Speedups are medians of ratios over plain decoding in the same format,
        timed alternately, at the best of the draft lengths {lengths}. Not all pairs were measured in one run of the
        program, so compare speedups between pairs, not times. Other machines differ, and so does what pays: the app
        measures yours."""
    )


def paragraph(text: str) -> str:
    """Lines of the cards' width."""
    return fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def pair_table(pair: Mapping[str, Any], result: Result) -> Iterator[str]:
    """Rates and speedups by kind of text."""
    yield (
        f"For {pair['target']} in {pair['target_dtype']}: a target step takes {pair['step_ms']} ms, "
        f"c = {pair['c']:.2f} (one draft step, in target steps), v(5) = {pair['v5']:.2f}."
    )
    yield ""
    if pair["v5"] < 1:
        yield from (below_one(result), "")
    rows = []
    for way in pair["kinds"][KINDS[0]]:
        found = [pair["kinds"][kind][way] for kind in KINDS]
        rows += [[f"{way}: {said}", *(f"{one[rate]:.2f}" for one in found)] for rate, said in RATES.items()]
        rows.append([f"{way}: speedup (at γ)", *(f"{one['speedup']:.2f} ({one['best_gamma']})" for one in found)])
    yield table(["", *KINDS], rows)
    yield ""


def below_one(result: Result) -> str:
    """How a check can take less time than a plain step, and how exact such a figure is."""
    dtype = "bfloat16"
    found = [each["v5"] for each in result["pairs"] if (each["target"], each["target_dtype"]) == (TARGET, dtype)]
    return paragraph(
        f"""v(5) can be below 1 in {dtype}: the processor’s instructions for it help a pass over several tokens, and
        not a pass over one. The figure is not exact: {spell_count(len(found))} calibrations of {TARGET} in {dtype} gave
        v(5) from {min(found):.2f} to {max(found):.2f}."""
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def samples(folder: Path) -> str:
    """What a model writes after fixed prompts, not selected, with the seeds to repeat it, as Markdown."""
    loaded = load_model(str(folder))
    lines = []
    for kind in KINDS:
        workload = find_workload(kind)
        assert workload is not None
        lines += [f"### {workload.title}", ""]
        for preset, seed in zip(workload.prompts, (1, 2, 3), strict=False):
            settings = DecodeSettings(max_new_tokens=80, temperature=0.8, seed=seed)
            text = autoregressive_decode(loaded, preset.text, settings).output.text
            lines += [f"`{preset.name}`, seed {seed}:", "", *_quoted(f"{preset.text}⟨…⟩{text}"), ""]
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    """A block of code, indented so that the text cannot end it."""
    return ["    " + line for line in text.replace("<|endoftext|>", "").splitlines()]


if __name__ == "__main__":
    main()
