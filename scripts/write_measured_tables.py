"""Write docs/measurements.md from the stored measurements: python -m scripts.write_measured_tables

A test compares. Each figure comes from a file in benchmarks/results or assets/measured; the words are here.
"""

import json
from collections.abc import Iterator, Mapping
from statistics import geometric_mean, median
from typing import Any

from scripts.write_cards import table
from specviz.core.files import APP_FOLDER, MEASURED, RESULTS
from specviz.data.measured.measured_methods import (
    ALL,
    FILE,
    MeasuredMethod,
    MeasuredMethods,
    read_methods,
)
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import read_result

DOCUMENT = APP_FOLDER / "docs" / "measurements.md"
AT = "2"  # guesses
TRIAL = "Not measured yet: the stored file is a short trial.\n"
FEWEST_PROMPTS, FEWEST_TOKENS = 4, 32  # of each kind of text, and of a run: with fewer it only shows that all works
OLDER = ("chat", "chat_head", "llama_rounds", "vllm_rounds")  # than the pass that packs its matrices
PEERS: dict[PeerSystem, str] = {"ours": "here", "llama.cpp": "llama.cpp’s server", "transformers": "transformers"}
KINDS = {"story": "stories", "code": "code", "structured": "structured text", "prose": "prose"}
LOOKUP, BOTH = "prompt lookup, n-grams up to 3", "lookup-smol-eagle"

PAGE = """# Measured

Written by `python -m scripts.write_measured_tables` from the files in [benchmarks/results](../benchmarks/results).

- **Machine.** AMD: an AMD EPYC with AVX512-BF16, unless another instruction set is named. Intel: an Intel(R) Xeon(R)
  Processor. Both: 2 cores, Linux, one thread. Compare figures of one machine only, and measure on your own.
- **†** is older than the forward pass that [packs its matrices](architecture.md#the-forward-pass).
- **Speedup**: the time of the target alone over that of speculative decoding, a geometric mean. Brackets hold its 95 %
  interval over prompts. Each prompt counts at the draft length that did best on the others of its kind, unless a row
  names a draft length: the fastest length on the same prompts would flatter.

Each command begins with `python -m benchmarks.`; CORPUS is a folder like that of
[the training](../training/README.md#the-corpus).

{rows}

Gains of the three programs, γ = 4, {prompts} prompts of each kind. Most intervals contain 1: these do not rank them.

{peers}

## The drafting methods

All are lossless, and all had the same prompts. c is a draft step, “check” the target's pass over the draft, both in
steps of the target alone. Methods whose intervals overlap are too close to call. Half of the prompts begin held-out
documents; wren-base's first stage of training read most of them, so the figures look better than they are. Greedy;
temperature 1 and each kind of text are on When it helps, “By method”. Command: `python -m benchmarks.methods CORPUS`.

{methods}
## A chat model

SmolLM2-135M-Instruct in its template, on ten prompts of each of seven kinds (four for wren-nano and early exit).
“Accepted” is of the guesses; “draft” and “check” are of a round, in steps of the target alone. Command:
`python -m benchmarks.chat rows.csv --times`.

{chats}
llama.cpp 11434's server reads the same file at {llama_rate} tokens a second. With its own n-grams of 3 and 4 guesses
it is {llama_gain} as fast over these {llama_prompts} prompts. Both its servers wrote the same texts, all of
{llama_tokens} tokens; ours stop where the model ends (`specviz bench`,
[file](../assets/measured/bench_llama_ngram.json)).

## The engine in the browser

{browser}

A phone: all processes of a Chromium share one sixth of one core, in turns with one without a quota; load {load}, 4
turns, one prompt, γ = 4, median (least to most).

## How times are measured

| rule | where |
| --- | --- |
{rules}

## What the numbers mean

- A check is one real forward pass over the full vocabulary. Every number says whether it was measured here, recorded
  elsewhere, or modelled (computed from a formula).
- A greedy output differs from plain decoding only where rounding decides between two nearly equal tokens. Above four
  times the largest change that was measured in that number format (`rounding.json`, on Intel, with the older pass),
  the app calls it FAILS.
- An interval is of one run's timing on Watch, and of the paired ratios of the repeats in `compare` and Race.
"""

RULES = {
    "Costs (a step, c, v, the rest of a round) are timed inside rounds and plain runs, in nine turns. From the second "
    "lowest to the second highest turn is the 95 % interval of the median": "`calibrate`, `compare`, Watch",
    "A calibration is refused where rounds of 1, 4 or 16 guesses differ by more than 25 % between turns, without the "
    "lowest and the highest, or where a check takes less than 1 / 1.05 of a step (0.9 / 1.05 if the target is not in "
    "float32)": "the same",
    "A busy machine ranks drafts by the costs of a quiet one, of the most similar processor in `quiet_costs.json`; its "
    "AVX2 entry is older than the packed pass": "Watch",
    "Nothing is stored where other programs take more than a tenth of a core, or a step more than 1.2 times the "
    "calibrated one: load changes ratios, not only times": "what uses `quiet_machine` (`benchmarks/quiet.py`)",
    "Stored however busy the machine is": "`specviz bench`, `benchmarks.chat --times`, `agreement` (it tries three "
    "times), and what times the app or a browser",
}

# What it is, its figure, the file, the places of the numbers in the file, and the command where it is not the file.
Row = tuple[str, str, str, list[str], str]
GAIN = "{:.2f}× [{:.2f}–{:.2f}]"
APP_ROWS: list[Row] = [
    ("fresh server to the first sentence; to the first tokens", "{:.1f} s; {:.1f} s", "app",
     ["first_content_seconds/median", "first_tokens_seconds/median"], ""),
    ("memory of server and engine together", "{:.0f} MB", "app", ["memory/together_mb"], ""),
    ("in Chromium, from another draft in the menu to its first rounds; to a point in each plot; to its end",
     "{:.2f} s; {:.2f} s; {:.2f} s", "first_view",
     [f"seconds_from_another_draft_to_{place}/median"
      for place in ("its_first_rounds", "a_point_in_all_plots", "all_curves")], ""),
    ("30 visitors at once, 95 % see first rounds within: one link; a link each; a change every 20 s",
     "{:.1f} s; {:.1f} s; {:.1f} s", "classroom",
     [f"{part}/first_round_seconds/p95" for part in ("same", "own", "lesson")], ""),
    ("the server's processor time for 100 idle visitors", "{:.1%} of a core", "classroom",
     ["idle/server_share_of_a_core"], ""),
]  # fmt: skip
CHAT_KINDS = {"correct": "correcting a text", "reformat": "reformatting", "change": "one change in code or JSON",
              "answer": "answers from a text", "summarise": "summaries", "stories": "stories",
              "facts": "facts"}  # fmt: skip
CHAT_ROWS: list[Row] = [
    ("SmolLM2-135M-Instruct with prompt lookup, γ = 4, greedy, ten chat prompts of each kind, tokens per target call "
     f"(least to most): {'; '.join(CHAT_KINDS.values())}",
     "; ".join(["{:.1f} ({:.1f} to {:.1f})"] * len(CHAT_KINDS)), "chat",
     [f"kinds/{kind}/{key}" for kind in CHAT_KINDS for key in ("tokens_a_pass", "least", "most")], "chat rows.csv"),
    ("SmolLM2-135M-Instruct on 70 chat prompts, γ = 2 (the best of those tried, on these prompts): prompt lookup; "
     "lookup where an n-gram fits, else a head; the latter on texts to correct; on facts",
     "; ".join([GAIN] * 4), "chat_times",
     [f"kinds/{kind}/{draft}/{AT}/{key}"
      for kind, draft in ((ALL, LOOKUP), (ALL, BOTH), ("correct", BOTH), ("facts", BOTH))
      for key in ("speedup", "interval/0", "interval/1")], "chat rows.csv --times"),
    ("the same, γ = 4, tokens per target call: prompt lookup; smol-eagle, a head; lookup, else the head",
     "{:.2f}; {:.2f}; {:.2f}", "chat_head",
     [f"{way}/4/all/tokens_a_call" for way in ("lookup", "heads/-1/head", "heads/-1/both")], "chat_head HEAD --check"),
]  # fmt: skip
SAME, DECODING = "{:,} of {:,}", "decoding --repeats 3"
ROWS: list[Row] = [
    ("greedy speedup over 10 of the app's prompts of each kind, wren-nano → wren-base in float32: "
     f"{'; '.join(KINDS.values())}", "; ".join([GAIN] * len(KINDS)), "decoding",
     [f"greedy_speedup_decode/{kind}/{key}" for kind in KINDS for key in ("speedup", "low", "high")], DECODING),
    ("greedy texts that are those of plain decoding: 7 ways to draft × 16 draft lengths × 16 prompts; trees",
     f"{SAME}; {SAME}", "exactness",
     [f"formats/float32/{kind}/{key}" for kind in ("chains", "trees") for key in ("same_text", "runs")],
     "exactness --formats float32"),
    ("greedy runs of 64 tokens with the same rounds as vLLM 0.32.0, until the limit cuts one", SAME, "vllm_rounds",
     ["same_rounds", "compared"], "peers CORPUS --vllm URL"),
    ("the same beside llama.cpp 11434", SAME, "llama_rounds", ["same_rounds", "compared"],
     "peers CORPUS --llama FOLDER --rounds 11434"),
    ("our passes, which pack matrices, against transformers' own: plain decoding; assisted generation, γ 2 to 7",
     "{:.2f}× its speed; {:.2f}×", "decoding",
     ["generate_seconds_over_plain_loop/median", "assisted_seconds_over_speculative_loop/median"], DECODING),
]  # fmt: skip
PHONE = ("plain_beside_length_4", "speculative_at_length_4", "of_both_on_screen_by_the_outer_clock")
PROGRAMS = ("our_kernel", "onnxruntime_plain_operators", "onnxruntime_fused_operators")
TOKENS = ("1_token", "5_tokens")
BROWSER_ROWS: list[Row] = [
    ("a plain token; 64 tokens of both decoders; a check of five tokens, in plain steps", "{:.1f} ms; {:.2f} s; {:.1f}",
     "browser_engine", ["ms_for_one_plain_token/median", "seconds_for_64_tokens_of_both_decoders/median",
                        "v_of_5/median"], "–"),
    ("speedup at the best draft length, 1: stories; random tokens (most and least of seven kinds of text)",
     f"{GAIN}; {GAIN}", "browser_engine", [f"speedup_by_kind_of_text/{kind}/{key}" for kind in ("story", "random")
                                           for key in ("speedup", "interval/0", "interval/1")], "–"),
    ("from a change to its first round on screen", "{:.0f} ms", "browser_engine",
     ["ms_from_a_change_to_the_first_round_on_screen/median"], "–"),
    ("the same, where each change follows at once on the end of a run", "{:.0f} ms ({:.0f} to {:.0f})", "browser_phone",
     [f"whole_processor/ms_from_a_change_to_the_first_round_on_screen/{key}" for key in ("median", "min", "max")],
     "–"),
    *(
        (f"a phone, {title}: tokens a second of the target alone; of speculation; of both until the run is on screen",
         "; ".join(["{:.0f} ({:.0f} to {:.0f})"] * 3), "browser_phone",
         [f"{side}/tokens_a_second_{what}/{key}" for what in PHONE for key in ("median", "min", "max")],
         "–")
        for side, title in (("one_sixth_of_one_core", "one sixth of a core"), ("whole_processor", "without the quota"))
    ),
    ("wren-base, a token; five tokens, in Chromium: our kernel; onnxruntime-web 1.30.0, plain operators; fused ones",
     "{:g}, {:g} ms; {:g}, {:g} ms; {:g}, {:g} ms", "browser_onnxruntime",
     [f"chromium_156_relaxed_simd/ms_for_{tokens}/{program}" for program in PROGRAMS for tokens in TOKENS], "–"),
]  # fmt: skip


def main() -> None:
    DOCUMENT.write_text(page(), encoding="utf-8")


def page() -> str:
    load = [stored("browser_phone")[f"load_{when}"] for when in ("before", "after")]
    return PAGE.format(
        rows=_rows([*ROWS, *computed_rows(), *CHAT_ROWS, *APP_ROWS]),
        prompts=recorded_peers().options.prompts,
        peers=peers_table(),
        methods=methods_section(read_methods(FILE)),
        chats=chats_section(stored("chat_times")),
        browser=_rows(BROWSER_ROWS),
        load=f"{load[0]:.1f} to {load[1]:.1f}",
        rules="\n".join(f"| {rule} | {where} |" for rule, where in RULES.items()),
        **llama_words(),
    )


def stored(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _rows(rows: list[Row]) -> str:
    cells = []
    for what, figure, file, places, command in rows:
        found = stored(file)
        said = figure.format(*(number_at(found, place) for place in places)).replace("%", " %")
        cells.append(
            [what, said, machine_of(file, found["machine"]), "–" if command == "–" else f"`{command or file}`"]
        )
    return table(["what", "figure", "machine", "command"], cells)


def number_at(found: Any, place: str) -> float:
    """The number at a place like `kinds/story/interval/0`. Half a cent is rounded up, as in the app."""
    for name in place.split("/"):
        found = found[int(name) if isinstance(found, list) else name]
    return found + 1e-9 if isinstance(found, float) else found


def machine_of(file: str, machine: str | Mapping[str, str]) -> str:
    name = machine if isinstance(machine, str) else machine["machine"]
    old = "" if isinstance(machine, str) or machine.get("instructions") != "avx2" else ", AVX2"
    return ("AMD" if name.startswith("AMD") else "Intel") + old + (" †" if file in OLDER else "")


def computed_rows() -> Iterator[Row]:
    peers, found = recorded_peers(), stored("agreement")
    both = []
    for each in ([kind[system] for kind in peers.kinds.values()] for system in PEERS):
        both.append(f"{median(one.plain_ms for one in each):.1f}, {median(one.speculative_ms for one in each):.1f}")
    yield (
        "wren-nano → wren-base in three programs, float32, ms a token plain, speculative (medians over four kinds of "
        f"text): {'; '.join(PEERS.values())}",
        "; ".join(both),
        "peers",
        [],
        "peers CORPUS --llama FOLDER",
    )
    slow = [each["measured"] for each in found["rows"] if each["pair"] == "wren-nano → wren-mini"]
    yield (
        f"wren-nano → wren-mini, a pair that does not pay, float32, γ = 4, {len(slow)} of the app's prompts, each of "
        "another kind: mean (least to most)",
        f"{geometric_mean(slow):.2f}× ({min(slow):.2f} to {max(slow):.2f}×)",
        "agreement",
        [],
        "",
    )
    high = sum(each["modelled"] > each["measured"] for each in found["rows"])
    beside = [each["load_average"][when] - 1 for each in found["repeats"] for when in ("before", "after")]
    yield (
        "modelled against measured speedup, from calibrated costs and counts, 3 pairs on 8 prompts; one run beside one "
        f"calibration (medians; load of other programs {min(beside):.1f} to {max(beside):.1f})",
        f"off by {{:.1%}}, too high in {high} of {len(found['rows'])}; {{:.1%}}",
        "agreement",
        ["off_by_median", "off_by_median_of_one_run_and_one_calibration"],
        "",
    )


def peers_table() -> str:
    kinds = recorded_peers().kinds
    gains = [[kinds[kind][system] for kind in KINDS] for system in PEERS]
    rows = [[title, *(GAIN.format(each.gain, *each.interval) for each in its)]
            for title, its in zip(PEERS.values(), gains, strict=True)]  # fmt: skip
    return table(["", *KINDS.values()], rows)


def llama_words() -> dict[str, object]:
    result = read_result((MEASURED / "bench_llama_ngram.json").read_bytes())
    [load] = BenchFindings(result).measured
    assert load.speedup
    assert load.speedup.interval
    return {
        "llama_rate": f"{load.sides['without'].tokens_per_second:.1f}",
        "llama_gain": GAIN.format(load.speedup.value, *load.speedup.interval),
        "llama_prompts": len(load.prompts),
        "llama_tokens": result.settings.max_new_tokens,
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
    rows = [
        [name, length, *_costs(each[length]), _gain(each[length])]
        for name, each in drafts.items()
        for length in sorted(each, key=int)
    ]
    by_length = table(["", "γ", "tokens per target call", "accepted", "draft", "check", "speedup"], rows)
    by_kind = [[kind, *(_gain(own[name][AT]) for name in (LOOKUP, BOTH))] for kind, own in kinds.items()]
    own = f"Each kind at γ = {AT}:"
    return "\n\n".join([said, by_length, own, table(["", LOOKUP, BOTH], by_kind)]) + "\n"


def _costs(found: Mapping[str, Any]) -> list[str]:
    return [_number(found[name]) for name in ("tokens_a_pass", "acceptance", "draft", "check")]


def _gain(found: Mapping[str, Any]) -> str:
    return GAIN.format(found["speedup"], *found["interval"])


def methods_section(measured: MeasuredMethods) -> str:
    """What was measured, and each method at temperature 0; of a trial, a sentence."""
    if measured.prompts < FEWEST_PROMPTS or measured.tokens < FEWEST_TOKENS or not measured.greedy:
        return TRIAL
    rows = [_row(method) for method in measured.greedy.methods]
    return f"{_said(measured)}\n\n{table(['', 'tokens per target call', 'c', 'check', 'speedup'], rows)}\n"


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


def _row(method: MeasuredMethod) -> list[str]:
    best = method.kinds[ALL].best
    costs = [_number(value) for value in (best.costs.tokens_per_target_call, best.costs.draft_step, best.costs.verify)]
    return [method.title, *costs, GAIN.format(best.speedup, best.low, best.high)]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
