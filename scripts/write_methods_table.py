"""Write the table of drafting methods into docs/measurements.md: python -m scripts.write_methods_table

It is made from benchmarks/results/methods.json and replaces what is between the two comments there.
"""

import re
from pathlib import Path

from scripts.write_cards import table
from specviz.data.measured.measured_methods import (
    ALL,
    FILE,
    KINDS,
    BestSetting,
    MeasuredMethod,
    MeasuredMethods,
    TemperatureFigures,
    read_methods,
)

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "measurements.md"
BEGIN, END = "<!-- python -m scripts.write_methods_table -->", "<!-- end of the methods -->"
TITLES = ["", "tokens per target call", "c", "check", "speedup", "stories", "code", "structured", "prose"]
TRIAL = "Not measured yet: the stored file is a short trial.\n"
SAMPLED = ("wren-nano", "wren-eagle")  # beside their other ways above temperature 0


def main() -> None:
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8"), read_methods(FILE)), encoding="utf-8")


def with_table(text: str, measured: MeasuredMethods) -> str:
    """The text with a new table.

    Raises:
        ValueError: the text has no place for it.
    """
    place = re.compile(rf"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
    if not place.search(text):
        raise ValueError("The document has no place for the table of methods.")
    return place.sub(lambda _: methods_section(measured), text)


def methods_section(measured: MeasuredMethods) -> str:
    """What was measured, and a table for each temperature; of a trial, a sentence."""
    if measured.trial:
        return TRIAL
    parts = [_part(part) for part in measured.temperatures]
    return f"{_said(measured)}\n\n" + "\n\n".join(parts) + "\n"


def _said(measured: MeasuredMethods) -> str:
    return (
        f"Measured on {measured.machine.machine}, {measured.created}: {measured.prompts} prompts of each kind of text, "
        f"{measured.tokens} tokens, {measured.repeats} repeats, target {measured.target} in {measured.target_dtype}."
        f"{_disturbed(measured)}"
    )


def _disturbed(measured: MeasuredMethods) -> str:
    if not measured.disturbed:
        return ""
    return (
        f" Another program ran meanwhile: a step of the target took {measured.slowdown:.1f} times as long as on the "
        "quiet machine. So these speedups are too high; tokens per target call are counted, so they are exact."
    )


def _part(part: TemperatureFigures) -> str:
    """All methods at temperature 0; above it, those that differ only there, and their usual way beside them."""
    methods = [method for method in part.methods if not part.temperature or _sampled(method)]
    title = "Greedy:" if not part.temperature else f"Temperature {part.temperature:g}:"
    return f"{title}\n\n{table(TITLES, [_row(method) for method in methods])}"


def _sampled(method: MeasuredMethod) -> bool:
    return method.family in ("argmax", "block") or method.name in SAMPLED


def _row(method: MeasuredMethod) -> list[str]:
    best = method.kinds[ALL].best
    costs = [_number(value) for value in (best.costs.tokens_per_target_call, best.costs.draft_step, best.costs.verify)]
    kinds = [_times(method.kinds[kind].best) if kind in method.kinds else "–" for kind in KINDS]
    return [method.title, *costs, _times(best), *kinds]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _times(best: BestSetting) -> str:
    """A speedup with its interval."""
    return f"{best.speedup:.2f}× [{best.low:.2f}–{best.high:.2f}]"


if __name__ == "__main__":
    main()
