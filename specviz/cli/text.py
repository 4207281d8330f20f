"""What the command line prints for a person. Text from models never reaches the terminal raw."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from specviz.core.metrics import count, speedup
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts, verdict_of_run
from specviz.models.pairs import KnownModel, Pair

if TYPE_CHECKING:
    from specviz.models.hub import Progress

# glyph and ANSI style: status is never colour alone
STYLES = {
    "accepted": ("✓", "34"),
    "rejected": ("✗", "9;33"),
    "discarded": ("⋯", "2"),
    "correction": ("↻", "1;32"),
    "bonus": ("+", "1;32"),
}


def visible(text: str) -> str:
    """Spaces and control characters made visible, so that no text can steer the terminal."""
    shown = text.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥")
    return "".join(_picture(char) if unicodedata.category(char).startswith("C") else char for char in shown)


def safe(text: str) -> str:
    """Text as it is, but for control characters other than a newline or tab."""
    keep = {"\n", "\t"}
    return "".join(
        char if char in keep or not unicodedata.category(char).startswith("C") else _picture(char) for char in text
    )


def _picture(char: str) -> str:
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else f"\\u{ord(char):04x}"


def chip(status: str, text: str) -> str:
    """One token with its status as glyph and, on a terminal, colour."""
    glyph, style = STYLES[status]
    plain = f"{glyph}{visible(text)}"
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return plain
    return f"\033[{style}m{plain}\033[0m"


def print_trace(trace: Trace) -> None:
    """Rounds as coloured tokens, both outputs compared, the figures, the verdict."""
    drafter = f" + {safe(trace.drafter.name)}" if trace.drafter else ""
    print(f"{safe(trace.target.name)}{drafter}, on {safe(trace.recorded_on.machine)}")
    print(f"prompt   {visible(trace.prompt.text)}")
    for round in trace.rounds:
        chips = [chip(token.status, token.text) for token in round.drafted]
        if round.emitted.kind != "none":
            chips.append(chip(round.emitted.kind, round.emitted.text))
        print(f"{round.index + 1:5}    {' '.join(chips)}")
    print(f"\n{safe(trace.prompt.text)}{safe(trace.output.text)}\n")
    if not trace.rounds:
        return
    counts = count(trace.rounds)
    print(
        f"{counts.emitted} tokens in {counts.rounds} target passes: {counts.drafted} drafted, {counts.accepted} "
        f"accepted, {counts.rejected} rejected, {counts.discarded} discarded; acceptance rate "
        f"{_number(counts.acceptance_rate)}, per judgement {_number(counts.per_judgement_rate)}"
    )
    print(compare_texts(trace))
    verdict = verdict_of_run(trace)
    if verdict and speedup(trace):
        print(f"{verdict.headline} (one pair of runs). {verdict.reason}")


def print_comparison(result: dict[str, Any]) -> None:
    """The figures of `compare`, as a table and a verdict."""
    plain, speculative = result["autoregressive"], result["speculative"]
    table(
        ("", "median s", "tokens/s", "spread"),
        [
            [name, run["seconds"], len(run["token_ids"]) / run["seconds"], _spread(run["seconds_all"])]
            for name, run in (("target alone", plain), ("speculative", speculative))
        ],
    )
    print(
        f"{speculative['rounds']} target passes: {speculative['drafted']} drafted, {speculative['accepted']} accepted, "
        f"{speculative['rejected']} rejected, {speculative['discarded']} discarded; acceptance rate "
        f"{_number(speculative['acceptance_rate'])}, per judgement {_number(speculative['per_judgement_rate'])}"
    )
    predicted = _number(result["predicted_speedup"])
    print(f"speedup {result['speedup']:.2f}× measured, {predicted}× modelled; {_sameness(result)}")
    print(f"{result['verdict']['label']}: {result['verdict']['reason']}")


def _sameness(result: dict[str, Any]) -> str:
    if result["identical"] is None:
        return "the texts are two draws from one distribution"
    return "texts identical" if result["identical"] else f"texts differ, see quality: {result['quality']}"


def _spread(seconds: Sequence[float]) -> str:
    return f"{min(seconds):.3f} to {max(seconds):.3f}"


def print_models(models: Iterable[KnownModel], pairs: Iterable[Pair]) -> None:
    """Every model with the memory its weights take, then every pair with what it is expected to teach, and why."""
    rows = [
        [m.name, f"{m.parameters / 1e6:.2f} M", m.layers, m.context, _size(m.float32_bytes), _size(m.bfloat16_bytes)]
        for m in models
    ]
    table(("model", "parameters", "layers", "context", "float32", "bfloat16"), rows)
    print("\npairs worth trying, target first")
    for pair in pairs:
        memory = f"{_size(pair.float32_bytes)} in float32, {_size(pair.bfloat16_bytes)} in bfloat16"
        print(f"{pair.target} + {pair.draft}: {pair.lesson} ({pair.place}; {memory})")
        for statement in pair.statements:
            print(f"    {statement.text} [{statement.source}]")


def print_dtypes(choices: Iterable[dict[str, Any]]) -> None:
    """For each model what a pass takes in each number format, and which of them is picked."""
    for choice in choices:
        print(f"\n{safe(choice['reason'])}")
        dtypes = list(choice["seconds"])
        lengths = choice["seconds"][dtypes[0]]
        rows = [[k, *(1000 * choice["seconds"][dtype][k] for dtype in dtypes)] for k in lengths]
        table(("k", *(f"{dtype} ms" for dtype in dtypes)), rows)


def download_line(step: "Progress") -> str:
    """How far a download is."""
    done, total = step.bytes_done / 1e6, step.bytes_total / 1e6
    file = min(step.files_done + 1, step.files_total)
    return f"downloading {safe(step.model)}: {done:.0f} of {total:.0f} MB, file {file} of {step.files_total}"


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Columns aligned; numbers to three places."""
    lines = [list(columns), *([_number(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
