"""Write the tables of drafting methods and of a chat model into docs/measurements.md, between two comments each.

    python -m scripts.write_measured_tables

They are made from methods.json and chat_times.json in benchmarks/results.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.write_cards import table
from specviz.core.files import RESULTS
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
CHATS = RESULTS / "chat_times.json"
BEGIN, END = "<!-- python -m scripts.write_measured_tables: {} -->", "<!-- end of {} -->"
AT = "2"  # guesses
TITLES = ["", "tokens per target call", "c", "check", "speedup", "stories", "code", "structured", "prose"]
TRIAL = "Not measured yet: the stored file is a short trial.\n"
SAMPLED = ("wren-nano", "wren-eagle")  # beside their other ways above temperature 0


def main() -> None:
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(text: str) -> str:
    """The text with new tables."""
    chats = json.loads(CHATS.read_text(encoding="utf-8"))
    return with_section(
        with_section(text, "methods", methods_section(read_methods(FILE))), "chats", chats_section(chats)
    )


def with_section(text: str, name: str, body: str) -> str:
    """The text with this body between the two comments of that name.

    Raises:
        ValueError: the text has no place for it.
    """
    begin, end = (re.escape(mark.format(name)) for mark in (BEGIN, END))
    place = re.compile(rf"(?<={begin}\n).*?(?={end})", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"The document has no place for the {name}.")
    return place.sub(lambda _: body, text)


def chats_section(found: Mapping[str, Any]) -> str:
    """Each draft at each length over all prompts, then each kind of prompt at two guesses."""
    kinds = {kind: drafts for kind, drafts in found["kinds"].items() if kind != ALL}
    drafts = found["kinds"][ALL]
    runs = [each for lengths in drafts.values() for each in lengths.values()]
    same, of = sum(each["identical"] for each in runs), sum(each["prompts"] for each in runs)
    said = (
        f"Measured on {found['machine']}: {found['target']} in {found['target_dtype']}, greedy, at most "
        f"{found['max_new_tokens']} tokens. {same:,} of {of:,} texts are those of the target alone."
    )
    rows = [
        [name, length, *_costs(each[length]), _gain(each[length])]
        for name, each in drafts.items()
        for length in sorted(each, key=int)
    ]
    by_kind = [[kind, *(f"{_number(own[name][AT]['tokens_a_pass'])}, {_gain(own[name][AT])}" for name in drafts)]
               for kind, own in kinds.items()]  # fmt: skip
    by_length = table(["", "γ", "tokens per target call", "accepted", "draft", "check", "speedup"], rows)
    own = f"Tokens per target call and speedup of each kind at γ = {AT}:"
    return "\n\n".join([said, by_length, own, table(["", *drafts], by_kind)]) + "\n"


def _costs(found: Mapping[str, Any]) -> list[str]:
    return [_number(found[name]) for name in ("tokens_a_pass", "acceptance", "draft", "check")]


def _gain(found: Mapping[str, Any]) -> str:
    low, high = found["interval"]
    return f"{found['speedup']:.2f}× [{low:.2f}–{high:.2f}]"


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
