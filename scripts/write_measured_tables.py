"""Write docs/measurements.md from the stored measurements: python -m scripts.write

The words are in measurements.md, beside this file; `{file/place:format}` there is a number at a place
of a file in benchmarks/results, and a name in braces is one of `computed`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from scripts.write_cards import stored, table
from specviz.core.files import APP_FOLDER, MEASURED
from specviz.data.measured.measured_methods import ALL, MeasuredMethods, PeerSystem, recorded_peers, stored_methods
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import read_result

DOCUMENT = APP_FOLDER / "docs" / "measurements.md"
WORDS = Path(__file__).with_name("measurements.md")
FIGURE = re.compile(r"\{(\w+)(?:/([^{}]+):([^{}:]+))?\}")
AT = "2"  # guesses
OLDER = ("chat", "chat_head")  # than the pass that packs its matrices
PEERS: dict[PeerSystem, str] = {"ours": "here", "llama.cpp": "llama.cpp’s server", "transformers": "transformers"}
KINDS = {"story": "stories", "code": "code", "structured": "structured text", "prose": "prose"}
LOOKUP, BOTH = "prompt lookup, n-grams up to 3", "lookup-smol-eagle"
GAIN = "{:.2f}× [{:.2f}–{:.2f}]"


def pages() -> dict[Path, str]:
    values = computed()

    def filled(found: re.Match[str]) -> str:
        name, place, form = found.groups()
        if place:
            return format(number_at(stored(name), place), form).replace("%", " %")
        return values[name] if name in values else machine_of(name.removeprefix("machine_"))

    return {DOCUMENT: FIGURE.sub(filled, WORDS.read_text(encoding="utf-8"))}


def number_at(found: Any, place: str) -> float:
    """The number at a place like `kinds/story/interval/0`. Half a cent is rounded up, as in the app."""
    for name in place.split("/"):
        found = found[int(name) if isinstance(found, list) else name]
    return found + 1e-9 if isinstance(found, float) else found


def machine_of(file: str) -> str:
    machine = stored(file)["machine"]
    name = machine if isinstance(machine, str) else machine["machine"]
    return ("AMD" if name.startswith("AMD") else "Intel") + (" †" if file in OLDER else "")


def computed() -> dict[str, str]:
    peers, methods, found = recorded_peers(), stored_methods(), stored("agreement")
    assert methods
    both = []
    for each in ([kind[system] for kind in peers.kinds.values()] for system in PEERS):
        both.append(f"{median(one.plain_ms for one in each):.1f}, {median(one.speculative_ms for one in each):.1f}")
    slow = [each["measured"] for each in found["rows"] if each["pair"] == "wren-nano → wren-mini"]
    high = {
        name: f"{sum(each['modelled'] > each['measured'] for each in rows)} of {len(rows)}"
        for name, rows in ((name, stored(name)["rows"]) for name in ("agreement", "agreement_intel"))
    }
    beside = [each["load_average"][when] - 1 for each in found["repeats"] for when in ("before", "after")]
    phone = [stored("browser_phone")[f"load_{when}"] for when in ("before", "after")]
    gains = [[peers.kinds[kind][system] for kind in KINDS] for system in PEERS]
    rows = [
        [title, *(GAIN.format(each.gain, *each.interval) for each in its)]
        for title, its in zip(PEERS.values(), gains, strict=True)
    ]
    return {
        "prompts": str(peers.options.prompts),
        "peers": table(["", *KINDS.values()], rows),
        "peers_ms": "; ".join(both),
        "slow_prompts": str(len(slow)),
        "slow_speedups": f"{geometric_mean(slow):.2f}× ({min(slow):.2f} to {max(slow):.2f}×)",
        "agreement_load": f"{min(beside):.1f} to {max(beside):.1f}",
        "agreement_high": high["agreement"],
        "agreement_intel_high": high["agreement_intel"],
        "load": f"{phone[0]:.1f} to {phone[1]:.1f}",
        "methods": methods_section(methods),
        "chats": chats_section(stored("chat_times")),
        **llama_words(),
    }


def llama_words() -> dict[str, str]:
    result = read_result((MEASURED / "bench_llama_ngram.json").read_bytes())
    [(load, speedup)] = BenchFindings(result).measured
    assert speedup.interval
    return {
        "llama_rate": f"{load.sides['without'].tokens_per_second:.1f}",
        "llama_gain": GAIN.format(speedup.value, *speedup.interval),
        "llama_prompts": str(len(load.prompts)),
        "llama_tokens": str(result.settings.max_new_tokens),
    }


def chats_section(found: Mapping[str, Any]) -> str:
    """Each draft at each length over all prompts, then the best two on each kind of prompt at two guesses."""
    kinds = {kind: drafts for kind, drafts in found["kinds"].items() if kind != ALL}
    drafts = found["kinds"][ALL]
    runs = [each for lengths in drafts.values() for each in lengths.values()]
    same, of = sum(each["identical"] for each in runs), sum(each["prompts"] for each in runs)
    said = (
        f"Measured on {found['machine']}: {found['target']} in {found['target_dtype']}, greedy, at most "
        f"{found['max_new_tokens']} tokens. {same:,} of {of:,} texts are those of the target alone."
    )
    rows = []
    for name, length in ((name, length) for name, each in drafts.items() for length in sorted(each, key=int)):
        one = drafts[name][length]
        costs = [f"{one[figure]:.2f}" for figure in ("tokens_a_pass", "acceptance", "draft", "check")]
        rows.append([name, length, *costs, GAIN.format(one["speedup"], *one["interval"])])
    by_length = table(["", "γ", "tokens per target call", "accepted", "draft", "check", "speedup"], rows)
    both = [(kind, [own[name][AT] for name in (LOOKUP, BOTH)]) for kind, own in kinds.items()]
    by_kind = [[kind, *(GAIN.format(each["speedup"], *each["interval"]) for each in own)] for kind, own in both]
    own = f"Each kind at γ = {AT}:"
    return "\n\n".join([said, by_length, own, table(["", LOOKUP, BOTH], by_kind)]) + "\n"


def methods_section(measured: MeasuredMethods) -> str:
    """What was measured, and each method at temperature 0."""
    said = (
        f"Measured on {measured.machine.machine}, {measured.created}: {measured.prompts} prompts of each kind of text, "
        f"{measured.tokens} tokens, {measured.repeats} repeats, target {measured.target} in {measured.target_dtype}."
    )
    if measured.prompts < 4 or measured.tokens < 32 or not measured.greedy:  # of each kind of text
        return "Not measured yet: the stored file is a short trial.\n"
    rows = []
    for method, best in ((each.title, each.kinds[ALL].best) for each in measured.greedy.methods):
        costs = (best.costs.tokens_per_target_call, best.costs.draft_step, best.costs.verify)
        shown = ["–" if value is None else f"{value:.2f}" for value in costs]
        rows.append([method, *shown, GAIN.format(best.speedup, best.low, best.high)])
    return f"{said}\n\n{table(['', 'tokens per target call', 'c', 'check', 'speedup'], rows)}\n"
