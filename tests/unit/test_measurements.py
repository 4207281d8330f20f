"""Figures in the documents are those of the stored measurements."""

import json
import re
from math import ceil
from statistics import geometric_mean, mean, stdev
from typing import Any

import pytest

from scripts.write_measured_tables import methods_section, with_tables
from specviz.core.files import MEASURED
from specviz.core.settings import DecodeSettings
from specviz.data.measured.measured_methods import ALL, FILE, read_methods
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import read_result
from tests.support.known import known
from tests.support.measured_methods import measured
from tests.unit.test_documents import ROOT, TEXTS

README, OPERATING, MEASUREMENTS = (TEXTS[name] for name in ("README", "operating", "measurements"))
PLAIN = {name: " ".join(text.split()) for name, text in TEXTS.items()}  # without line ends
SIZES = OPERATING.partition("## How large a server")[2].partition("\n## ")[0]
SIZE = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)
BUSIEST = 0.7  # share of the time in which an engine or a server may work
LENGTH = str(DecodeSettings().draft_length)
MACHINES = {
    "Intel": "Intel(R) Xeon(R) Processor, 2 cores, Linux",
    "AMD": "AMD EPYC, 2 cores, Linux",
    "Xeon with AMX": "Intel(R) Xeon(R) Processor, 16 cores, Linux, NVIDIA H200",
}


def stored(name: str) -> Any:
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))


def stored_figure(file: str, key: str) -> float:
    value = stored(file)
    for name in key.split("."):
        value = value[name]
    return float(value)


def cells_of(text: str) -> list[list[str]]:
    """The cells of each row of the tables in a text, without their heads."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cells for cells in rows if cells[0] not in ("what", "---")]


def row(beginning: str) -> str:
    """The figure of the row of the measurements that begins like this."""
    [figure] = [cells[1] for cells in cells_of(MEASUREMENTS) if cells[0].startswith(beginning)]
    return figure


def times(value: float) -> str:
    return f"{value + 1e-9:.2f}×"


def select(entries: list[Any], **wanted: object) -> list[Any]:
    return [entry for entry in entries if wanted.items() <= entry.items()]


def rows_of_loops() -> dict[str, str]:
    found, first_view = stored("decoding"), stored("first_view")
    assisted = found["assisted_seconds_over_speculative_loop"]
    lengths = [each["median"] for each in assisted["by_draft_length"].values()]
    places = ("its_first_rounds", "a_point_in_all_plots", "all_curves")
    ends = [first_view[f"seconds_from_another_draft_to_{place}"]["median"] for place in places]
    rows = {
        "plain loop": f"{times(found['generate_seconds_over_plain_loop']['median'])} its speed",
        "speculative loop": f"{times(assisted['median'])} its speed ({min(lengths):.2f} to {times(max(lengths))})",
        "time in the loop": f"{100 * found['decode_overhead_over_model_calls']['median']:.1f} % of the models’ passes",
        "recording probabilities": f"{100 * (found['recorded_seconds_over_unrecorded']['median'] - 1):.1f} %",
        "in Chromium, from another draft": "; ".join(f"{seconds:.2f} s" for seconds in ends),
    }
    kinds = found["greedy_speedup_decode"]
    rows["greedy speedup over 10 of the app's prompts"] = ", ".join(
        f"{times(kinds[kind]['speedup'])} [{times(kinds[kind]['low'])[:-1]}–{times(kinds[kind]['high'])[:-1]}]"
        for kind in ("story", "structured")
    )
    return rows


def rows_of_pairs() -> dict[str, str]:
    slow = [each["measured"] for each in select(stored("agreement")["rows"], pair="wren-nano → wren-mini")]
    return {"wren-nano → wren-mini": f"{times(geometric_mean(slow))} ({min(slow):.2f} to {times(max(slow))})"}


def speedups_of_chat() -> list[str]:
    """At two guesses: of prompt lookup, and of lookup with a head behind it; of each kind with the latter."""

    def figure(kind: str, draft: str = "lookup-smol-eagle") -> str:
        found = kinds[kind][draft]["2"]
        return f"{found['speedup']:.2f}× [{found['interval'][0]:.2f}–{found['interval'][1]:.2f}]"

    kinds = stored("chat_times")["kinds"]
    both = f"{figure('all', 'prompt lookup, n-grams up to 3')}, {figure('all')}"
    return [both, *map(figure, ("correct", "reformat", "change", "answer", "stories", "summarise", "facts"))]


def exact_texts() -> list[str]:
    """Greedy texts that are those of plain decoding: along chains and in trees."""
    kinds = [stored("exactness")["formats"]["float32"][kind] for kind in ("chains", "trees")]
    return [f"{each['same_text']:,} of {each['runs']:,}" for each in kinds]


def rounds_of_peers() -> tuple[dict[str, Any], dict[str, Any]]:
    return stored("vllm_rounds"), stored("llama_rounds")


def rows_of_texts() -> dict[str, str]:
    found, chat, agreement = recorded_peers(), stored("chat")["kinds"], stored("agreement")
    systems: list[PeerSystem] = ["ours", "llama.cpp", "transformers"]
    both = [f"{found.plain_ms(system):.1f}, {found.speculative_ms(system):.1f}" for system in systems]
    kinds = [chat[kind] for kind in ("correct", "reformat", "change", "answer", "summarise", "stories", "facts")]
    means = [f"{each['tokens_a_pass']:.1f} ({each['least']:.1f} to {each['most']:.1f})" for each in kinds]
    head = stored("chat_head")
    each = (head["lookup"], head["heads"][-1]["head"], head["heads"][-1]["both"])
    ways = [way[LENGTH]["all"]["tokens_a_call"] for way in each]
    same, answers = head["checked"]["identical"], head["checked"]["answers"]
    one = agreement["off_by_median_of_one_run_and_one_calibration"]
    return {
        "wren-nano → wren-base, the same prompts": "; ".join([*both, "all texts and counts equal"]),
        "SmolLM2-135M-Instruct (Q4_1": "; ".join(
            [*means, f"all {sum(each['identical'] for each in chat.values())} texts identical"]
        ),
        "SmolLM2-135M-Instruct on the same 70 prompts": "; ".join(speedups_of_chat()),
        "smollm2 on the same 70 prompts": "; ".join(
            [*map("{:.2f}".format, ways), f"{same} of {answers} texts identical"]
        ),
        "greedy decoding of 64 tokens": "; ".join(
            f"{min(found['same_text'], found['same_rounds'])} of {found['compared']} runs"
            for found in rounds_of_peers()
        ),
        "greedy texts that are those of plain decoding": "; ".join(exact_texts()),
        "modelled against measured speedup": f"off by {100 * agreement['off_by_median']:.1f} %; "
        f"one run beside one calibration by {100 * one:.1f} % (medians)",
    }


@pytest.mark.parametrize("rows", [rows_of_loops, rows_of_pairs, rows_of_texts], ids=lambda rows: rows.__name__)
def test_a_row_of_the_measurements_has_its_stored_figures(rows: Any) -> None:
    expected = rows()
    assert {beginning: row(beginning) for beginning in expected} == expected


def quotes() -> list[str]:
    """Figures inside sentences of the measurements."""
    vllm, llama = rounds_of_peers()
    agreement, steadiness = stored("agreement"), [each["after"]["speedups"] for each in stored("steadiness")["labels"]]
    widest = [each["v5"] for each in select(agreement["repeats"], pair="wren-nano → wren-base")]
    spreads = [100 * stdev(its) / mean(its) for its in steadiness]
    methods = known(known(read_methods(FILE).greedy).find("wren-nano")).kinds["structured"]
    decoding = stored("decoding")["greedy_speedup_decode"]["structured"]
    samples = {
        "6 prompts (`methods.json`": known(methods.at(int(LENGTH))).speedup,
        "10 of the app's own prompts (`decoding.json`": decoding["by_draft_length"][LENGTH],
    }
    bench = BenchFindings(read_result((MEASURED / "bench_llama_ngram.json").read_bytes()))
    [load], [cost] = bench.measured, bench.rounds
    gain = known(load.speedup)
    low, high = known(gain.interval)
    return [
        f"at {load.sides['without'].tokens_per_second:.1f} tokens a second",
        f"{gain.value:.2f}× [{low:.2f}–{high:.2f}] as fast over the same {len(load.prompts)} prompts",
        f"as long as {cost.cost:.2f} of its plain steps and writes {cost.tokens:.2f} tokens",
        *(f"{times(speedup)} over {words}" for words, speedup in samples.items()),
        *(f"{100 * off:.1f} % with {pair}" for pair, off in agreement["off_by_median_of_pairs"].items()),
        f"v(5) from {min(widest):.2f} to {max(widest):.2f}",
        f"a standard deviation of {min(spreads):.1f} to {max(spreads):.1f} % of their mean",
        f"the same rounds as vLLM {vllm['vllm']} (until the limit cuts one); as llama.cpp {llama['llama.cpp']}",
        f"after {vllm['compared']} held-out prompts: the same text",
    ]


def test_figures_inside_sentences_are_the_stored_ones() -> None:
    assert [said for said in quotes() if said not in PLAIN["measurements"]] == []
    assert "{} along chains and {} in trees".format(*exact_texts()) in PLAIN["architecture"]


def test_the_figures_of_the_readme_are_those_of_the_measurements() -> None:
    shown, measurements = cells_of(README.partition("| what | figure |")[2]), cells_of(MEASUREMENTS)
    [(methods, said, _)] = [cells for cells in shown if cells[:2] not in [each[:2] for each in measurements]]
    ranked = sorted(known(read_methods(FILE).greedy).methods, key=lambda method: -method.kinds[ALL].best.speedup)
    assert f"the fastest, {ranked[0].title}; the slowest, {ranked[-1].title}" in methods
    bests = [method.kinds[ALL].best for method in (ranked[0], ranked[-1])]
    assert said == "; ".join(f"{best.speedup:.2f}× [{best.low:.2f}–{best.high:.2f}]" for best in bests)


def test_each_figure_names_its_machine() -> None:
    lines = [cells for cells in cells_of(MEASUREMENTS.partition("| command |")[2]) if len(cells) == 4]
    command = ""
    for what, _, machine, said in lines:
        command = command if said == "the same" else said
        found = stored(known(re.search(r"benchmarks\.(\w+)", command))[1])
        measured_on = found["machine"]
        assert MACHINES[machine] == (measured_on if isinstance(measured_on, str) else measured_on["machine"]), what
    told = {cells[0]: cells[2] for cells in lines}
    for what, _, machine in cells_of(README.partition("| machine |")[2]):
        assert machine == told.get(what, "AMD"), what
    assert read_methods(FILE).machine.machine == MACHINES["AMD"]


def test_the_tables_are_the_stored_ones_with_intervals_and_a_short_trial_has_none() -> None:
    assert with_tables(MEASUREMENTS) == MEASUREMENTS, "python -m scripts.write_measured_tables"
    greedy = methods_section(measured()).split("Temperature 1:")[0]
    assert "| wren-nano (tree) | 2.00 | 0.10 | 1.50 | 1.00× [0.90–1.10] | 1.00× [0.90–1.10] | – | – | – |" in greedy


def test_sizes_of_a_server_are_stored_figures_and_the_advice_keeps_every_process_at_most_70_per_cent_busy() -> None:
    sizes = SIZE.findall(SIZES)
    assert len(sizes) == len(cells_of(SIZES)) - 1 > 0
    for what, figure, unit, file, key in sizes:
        assert round(stored_figure(file, key), len(figure.partition(".")[2])) == float(figure), what
        assert {"s": "seconds", "ms": "milliseconds", "MB": "_mb", "": ""}[unit] in key, what
    reasoned = " ".join(SIZES.partition("What follows is only reasoned")[2].split())
    an_engine = stored_figure("classroom", "own.whole_run_seconds.max") / 30
    least, a_server = sorted(
        stored_figure("classroom", f"{part}.server_milliseconds_a_run") / 1000 for part in ("own", "lesson")
    )
    for visitors in (100, 300):
        engines, servers = (ceil(visitors / 60 * seconds / BUSIEST) for seconds in (an_engine, a_server))
        both = f"{engines} engines and {servers} app server{'s' if servers > 1 else ''}"
        assert f"{both}, so {engines + servers} cores" in reasoned
    assert f"about {60 / an_engine:.0f} runs a minute" in reasoned
    assert f"{least:.2f} to {a_server:.2f} s of its one core" in reasoned
    assert f"about {int(BUSIEST * 60 / an_engine)} visitors who each ask for a new run every minute" in reasoned


def test_runs_without_a_label_are_not_counted_as_the_same_label() -> None:
    """Found: "30 of 30 runs had the same label"; 14 of them had none."""
    settings = stored("steadiness")["labels"]
    labels = [[label for label in each["after"]["labels"] if label != "busy"] for each in settings]
    before = [str(each["before"]["changes_of_label"]) for each in settings]
    after = [f"{each['after']['changes_of_label']} of {len(its)}" for each, its in zip(settings, labels, strict=True)]
    assert {len(set(its)) for its in labels} == {1}, "each the same as the others of its setting"
    assert f"| {', '.join(before)} of 10 each; {', '.join(after)} |" in MEASUREMENTS
