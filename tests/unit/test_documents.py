"""What the documents name exists, their examples work, and their figures are the stored ones."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from scripts.write_methods_table import methods_section, with_table
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.trace import parse_trace
from specviz.data.lessons import plans
from specviz.data.lessons.recorded_runs import METHOD_RUNS, STORY, STORY_RUNS
from specviz.data.links.hidden import HIDEABLE
from specviz.data.measured.measured_methods import ALL, FILE, read_methods
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.data.systems.importers import SYSTEMS, RecordOptions, import_run
from specviz.models.draft_menu import offered_names
from tests.support.known import known
from tests.support.measured_methods import measured
from tests.support.records import FakeTokenizer

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in DOCUMENTS}
PLAIN = {name: " ".join(text.split()) for name, text in TEXTS.items()}  # without line ends
README, CONTRIBUTING, ARCHITECTURE = TEXTS["README"], TEXTS["CONTRIBUTING"], TEXTS["architecture"]
OPERATING, TEACHING, TRACES = TEXTS["operating"], TEXTS["teaching"], TEXTS["traces"]
MEASUREMENTS = TEXTS["measurements"]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")  # to a file of the repository, perhaps to a part of it
[SMALLEST] = re.findall(r"```json\n(.*?)```", TRACES, re.DOTALL)
SHORT_RECORDS = re.findall(r"--from (\S+) (?:(?!--from).)*?```text\n(.*?)```", TRACES, re.DOTALL)
SIZES = OPERATING.partition("## How large a server")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| (.+) \| ([0-9.]+)(?: (s|ms|MB))? \| `(\w+)\.json` \| `([\w.]+)` \|$", re.MULTILINE)
ROWS = ROW.findall(SIZES)
CODE = ("specviz", "pages", "benchmarks/batching", "assets")
BUSIEST = 0.7  # share of the time in which an engine or a server may work
LENGTH = str(DecodeSettings().draft_length)
MACHINES = {
    "Intel": "Intel(R) Xeon(R) Processor, 2 cores, Linux",
    "AMD": "AMD EPYC, 2 cores, Linux",
    "Xeon with AMX": "Intel(R) Xeon(R) Processor, 16 cores, Linux, NVIDIA H200",
}


def test_the_figures_of_the_readme_are_those_of_the_measurements() -> None:
    shown, measurements = cells_of(README.partition("| what | figure |")[2]), cells_of(MEASUREMENTS)
    [(methods, said, _)] = [cells for cells in shown if cells[:2] not in [each[:2] for each in measurements]]
    ranked = sorted(known(read_methods(FILE).greedy).methods, key=lambda method: -method.kinds[ALL].best.speedup)
    assert f"the fastest, {ranked[0].title}; the slowest, {ranked[-1].title}" in methods
    bests = [method.kinds[ALL].best for method in (ranked[0], ranked[-1])]
    assert said == "; ".join(f"{best.speedup:.2f}× [{best.low:.2f}–{best.high:.2f}]" for best in bests)


def tree(text: str) -> Iterator[str]:
    """The paths in a drawn tree: a name per line, two spaces deeper inside a folder."""
    folders: list[str] = []
    for line in text.splitlines():
        name, depth = line.split()[0], (len(line) - len(line.lstrip())) // 2
        folders[depth:] = [name]
        yield "".join(folders)


def test_the_drawn_tree_is_the_real_one() -> None:
    [drawn] = re.findall(r"## Where things are\n\n```\n(.*?)```", ARCHITECTURE, re.DOTALL)
    named = set(tree(drawn))
    layers = {f"specviz/{path.name}/" for path in (ROOT / "specviz").iterdir() if any(path.glob("*.py"))}
    assert layers
    assert layers - named == set()
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_make_targets_of_a_document_exist(document: Path) -> None:
    text = TEXTS[document.stem]
    links = LINK.findall(text)
    assert [link for link, _ in links if not (document.parent / link).exists()] == []
    parts = [(document.parent / link if link else document, part) for link, part in links if part]
    assert [f"{file.name}#{part}" for file, part in parts if part not in anchors(file)] == []
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z0-9]+)", text, re.MULTILINE)) - targets == set()


def anchors(document: Path) -> set[str]:
    """The names under which GitHub links to the headings of a document."""
    headings = re.findall(r"^#+ (.*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def code_of(files: str, *folders: str) -> str:
    found = (file for folder in folders for file in (ROOT / folder).rglob(files))
    return "\n".join(file.read_text(encoding="utf-8") for file in found)


def test_operating_names_every_variable_and_its_sizes_are_stored_figures() -> None:
    read = set(re.findall(r"\bSPECVIZ_[A-Z_]+", code_of("*.py", "specviz")))
    assert read == set(re.findall(r"^\| `(SPECVIZ_[A-Z_]+)`", OPERATING, re.MULTILINE))
    assert len(ROWS) == len(cells_of(SIZES)) - 1 > 0
    endings = {"s": "seconds", "ms": "milliseconds", "MB": "_mb", "": ""}
    for what, figure, unit, file, key in ROWS:
        assert round(stored_figure(file, key), len(figure.partition(".")[2])) == float(figure), what
        assert endings[unit] in key, what


def test_the_advice_on_sizes_follows_from_the_measured_times_and_keeps_every_process_at_most_70_per_cent_busy() -> None:
    reasoned = " ".join(SIZES.partition("What follows is only reasoned")[2].split())
    an_engine = stored_figure("classroom", "own.whole_run_seconds.max") / 30
    own, a_server = (
        stored_figure("classroom", f"{part}.server_milliseconds_a_run") / 1000 for part in ("own", "lesson")
    )
    for visitors in (100, 300):
        engines, servers = (ceil(visitors / 60 * seconds / BUSIEST) for seconds in (an_engine, a_server))
        assert f"{engines} engines and {servers} app servers, so {engines + servers} cores" in reasoned
    assert f"about {60 / an_engine:.0f} runs a minute" in reasoned
    assert f"{own:.2f} to {a_server:.2f} s of its one core" in reasoned
    assert f"about {int(BUSIEST * 60 / an_engine)} visitors who each ask for a new run every minute" in reasoned


def test_tests_that_documents_name_exist() -> None:
    tests = {f"test_{name}" for name in re.findall(r"def test_(\w+)", code_of("*.py", "tests"))}
    tests |= {file.stem for file in (ROOT / "tests").rglob("test_*.py")}
    named = re.findall(r"\btest_\w+", code_of("*.md", "docs") + CONTRIBUTING)
    assert len(named) > 50
    assert {*named} - tests == set()


def test_names_and_paths_of_architecture_and_contributing_exist() -> None:
    quoted = set(re.findall(r"`([^`\n]+)`", ARCHITECTURE))
    quoted |= set(re.findall(r"`((?:specviz|tests|docs|pages|examples)/[^`\s]*)`", CONTRIBUTING))
    paths = {name for name in quoted if "/" in name}
    code = set(re.findall(r"\w+", "".join(code_of(kind, *CODE) for kind in ("*.py", "*.js"))))
    files = {path.name for folder in CODE for path in (ROOT / folder).rglob("*")}
    assert paths
    assert {path for path in paths if not (ROOT / path).exists()} == set()
    assert {name for name in quoted - paths - files if not {*name.split(".")} <= code | files} == set()


def test_the_example_of_a_plan_is_one_and_true() -> None:
    [found] = re.findall(r"```yaml\n(.*?)```", TEACHING, re.DOTALL)
    example = plans.parse_plan(found.encode(), "example", offered_names())
    assert (example.title, len(example.moments)) == ("Dice in the draft", 2)
    assert sum(moment.minutes for moment in example.moments) == example.minutes
    moment = example.moments[0]
    run = known(moment.screen.run)
    round, phase = divmod(moment.screen.step, 3)
    token = run.rounds[round].drafted[2]
    assert (phase, token.text, token.status) == (1, " because", "rejected")
    chance = known(token.target_prob) / known(token.draft_prob)
    assert chance < 1
    assert f"here {chance:.2f}: mostly yes" in moment.answer
    assert f"the draw was {known(token.u):.2f}" in moment.answer


def test_teaching_names_the_controls_lessons_and_runs_that_there_are() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", TEACHING, re.MULTILINE)[: len(HIDEABLE)] == list(HIDEABLE.items())
    addresses = re.findall(r"\?lesson=([a-z0-9-]+)&moment=([0-9]+)", TEACHING)
    assert addresses
    assert all(1 <= int(moment) <= len(known(plans.find_plan(name)).moments) for name, moment in addresses)
    stories = (f"{STORY}{name}" for name in STORY_RUNS)
    assert {*re.findall(r"`run=([a-z-]+)`", TEACHING)} == {plans.FIRST, *stories, *METHOD_RUNS}


def test_the_smallest_trace_is_valid_and_has_no_field_too_many() -> None:
    trace, fields = parse_trace(SMALLEST), json.loads(SMALLEST)
    assert (len(trace.rounds), trace.output.text) == (1, " upon a")
    for field in fields.keys() - {"schema"}:
        less = {name: value for name, value in fields.items() if name != field}
        with pytest.raises(InputError, match=f"not valid at {field}: Field required"):
            parse_trace(json.dumps(less))


def test_traces_md_has_a_record_of_each_system_and_each_is_read() -> None:
    assert [name for name, _ in SHORT_RECORDS] == list(SYSTEMS)
    for system, record in SHORT_RECORDS:
        given = RecordOptions(tokenizer=FakeTokenizer() if system == "transformers" else None)
        trace = import_run(record.encode(), system, given)
        assert trace.output.text.startswith("Once upon a time,")
        assert any(round.accepted for round in trace.rounds)


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
    """The figure of the row that begins like this."""
    (figure,) = [cells[1] for cells in cells_of(MEASUREMENTS) if cells[0].startswith(beginning)]
    return figure


def times(value: float) -> str:
    return f"{value + 1e-9:.2f}×"


def family(draft: str, dtype: str, target: str = "wren-base") -> Any:
    wanted = {"target": target, "draft": draft, "target_dtype": dtype}
    (pair,) = [pair for pair in stored("family")["pairs"] if wanted.items() <= pair.items()]
    return pair["kinds"]


def test_each_figure_names_its_machine() -> None:
    lines = [cells for cells in cells_of(MEASUREMENTS.partition("| command |")[2]) if len(cells) == 4]
    command = ""
    for what, _, machine, said in lines:
        command = command if said == "the same" else said
        found = stored(known(re.search(r"benchmarks\.(\w+)", command))[1])
        measured_on = found["memory"]["machine"] if what.startswith("memory") else found["machine"]
        assert MACHINES[machine] == (measured_on if isinstance(measured_on, str) else measured_on["machine"]), what
    told = {cells[0]: cells[2] for cells in lines}
    for what, _, machine in cells_of(README.partition("| machine |")[2]):
        assert machine == told.get(what, "AMD"), what
    assert read_methods(FILE).machine.machine == MACHINES["AMD"]


def test_other_programs_and_equal_texts_have_their_stored_figures() -> None:
    found = recorded_peers()
    systems: list[PeerSystem] = ["ours", "llama.cpp", "transformers"]
    both = [f"{found.plain_ms(system):.1f}, {found.speculative_ms(system):.1f}" for system in systems]
    assert row("wren-nano → wren-base, the same prompts") == "; ".join([*both, "all texts and counts equal"])
    chat = stored("chat")["kinds"]
    kinds = [chat[kind] for kind in ("correct", "reformat", "change", "answer", "summarise", "stories", "facts")]
    means = [f"{each['tokens_a_pass']:.1f} ({each['least']:.1f} to {each['most']:.1f})" for each in kinds]
    same = sum(each["identical"] for each in chat.values())
    assert row("SmolLM2-135M-Instruct") == "; ".join([*means, f"all {same} texts identical"])
    assert sum(each["prompts"] for each in chat.values()) == same
    vllm = stored("vllm_rounds")
    counted = [f"{vllm[same]} of {vllm['compared']}" for same in ("same_text", "same_rounds")]
    assert f"here and in vLLM {vllm['vllm']}: same text; same rounds" in PLAIN["measurements"]
    assert row("greedy decoding of 64 tokens") == "; ".join(counted)
    half = stored("peers_amx")["kinds"].values()
    for name in ("ours", "ours bfloat16", "llama.cpp", "llama.cpp bfloat16", "transformers"):
        ends = [f"{median(kind[name][f'{way}_ms'] for kind in half):.1f}" for way in ("plain", "speculative")]
        assert " and ".join(ends) in PLAIN["measurements"]
    packed, unpacked = (stored(name)["formats"]["bfloat16"] for name in ("exactness", "exactness_unpacked"))
    counts = [
        [f"{part[kind]['same_text']:,} of {part[kind]['runs']:,}" for kind in ("chains", "trees")]
        for part in (packed, unpacked)
    ]
    assert row("greedy texts in bfloat16") == "; ".join(", ".join(each) for each in counts)
    assert "{} along chains and {} in trees".format(*counts[0]) in PLAIN["architecture"]
    assert "{} and {}".format(*counts[1]) in PLAIN["architecture"]


def test_speedups_over_the_apps_prompts_have_their_intervals_and_the_other_samples_are_told() -> None:
    found = stored("decoding")["greedy_speedup_decode"]
    for beginning, dtype in (("greedy speedup over 10 of the app's prompts", "float32"), ("the same with", "bfloat16")):
        kinds = found[f"target {dtype}, draft float32"]
        shown = [kinds[kind] for kind in ("story", "structured")]
        assert {each["prompts"] for each in shown} == {10}
        ends = [[times(each[name])[:-1] for name in ("low", "high")] for each in shown]
        said = [f"{times(each['speedup'])} [{low}–{high}]" for each, (low, high) in zip(shown, ends, strict=True)]
        assert row(beginning) == ", ".join(said)
    wanted = {"kind": "structured", "layers": 12, "dtype": "float32", "draft": "wren-nano", "gamma": int(LENGTH)}
    [baseline] = [each for each in stored("baselines")["speedups"] if wanted.items() <= each.items()]
    nano = known(known(read_methods(FILE).greedy).find("wren-nano")).kinds["structured"]
    of_family = family("wren-nano", "float32")["structured"]["greedy"]["speedup_by_gamma"]
    of_decoding = found["target float32, draft float32"]["structured"]["by_draft_length"]
    samples = {
        "8 prompts (`family.json`": of_family[LENGTH],
        "8 prompts (`baselines.json`": baseline["own"],
        "6 prompts (`methods.json`": known(nano.at(int(LENGTH))).speedup,
        "10 of the app's own prompts (`decoding.json`": of_decoding[LENGTH],
    }
    for words, speedup in samples.items():
        assert f"{times(speedup)} over {words}" in PLAIN["measurements"]


def test_the_figures_of_the_agreement_of_modelled_and_measured_speedups() -> None:
    found = stored("agreement")
    one = found["off_by_median_of_one_run_and_one_calibration"]
    said = f"off by {100 * found['off_by_median']:.1f} %; one run beside one calibration by {100 * one:.1f} % (medians)"
    assert row("modelled against measured speedup") == said
    for pair, off in found["off_by_median_of_pairs"].items():
        assert re.search(rf"{100 * off:.1f} % with {pair}\b", PLAIN["measurements"])
    widest = [each["v5"] for each in found["repeats"] if each["pair"] == "wren-nano → wren-base"]
    assert f"v(5) from {min(widest):.2f} to {max(widest):.2f}" in PLAIN["measurements"]


def rows() -> dict[str, str]:
    """What stands in the table, by the beginning of a row."""
    found, first_view = stored("decoding"), stored("first_view")
    assisted, decode = found["assisted_seconds_over_speculative_loop"], found["greedy_speedup_decode"]
    lengths = [each["median"] for each in assisted["by_draft_length"].values()]
    recorded = found["recorded_seconds_over_unrecorded"]["median"] - 1
    places = ("its_first_rounds", "a_point_in_all_plots", "all_curves")
    ends = [first_view[f"seconds_from_another_draft_to_{place}"]["median"] for place in places]
    wanted = {"layers": 12, "dtype": "bfloat16", "draft": "wren-mini", "gamma": int(LENGTH)}
    baselines = [each for each in stored("baselines")["speedups"] if wanted.items() <= each.items()]
    quickest, own = (", ".join(times(each[name]) for each in baselines) for name in ("quickest", "own"))

    def of_each_dtype(figures: Callable[[str], str]) -> str:
        return f"{figures('bfloat16')} (bf16 target), {figures('float32')} (all float32)"

    def of_family(draft: str) -> str:
        def greedy(dtype: str) -> str:
            ways = [family(draft, dtype)[kind]["greedy"] for kind in ("story", "structured")]
            return ", ".join(times(way["speedup_by_gamma"][LENGTH]) for way in ways)

        return of_each_dtype(greedy)

    def to_mini(dtype: str) -> str:
        ways = [way for kind in family("wren-nano", dtype, "wren-mini").values() for way in kind.values()]
        return times(median(way["speedup_by_gamma"][LENGTH] for way in ways))

    def of_stories(dtype: str) -> str:
        return times(decode[f"target {dtype}, draft float32"]["story"]["by_draft_length"][LENGTH])

    return {
        "plain loop": f"{times(found['generate_seconds_over_plain_loop']['median'])} its speed",
        "speculative loop": f"{times(assisted['median'])} its speed ({min(lengths):.2f} to {times(max(lengths))})",
        "time in the loop": f"{100 * found['decode_overhead_over_model_calls']['median']:.1f} % of the models’ passes",
        "recording probabilities": f"{100 * recorded:.1f} %",
        "in Chromium, from another draft": "; ".join(f"{seconds:.2f} s" for seconds in ends),
        "greedy speedup on 10 of the app's stories": of_each_dtype(of_stories),
        "greedy speedup over 8 prompts": of_family("wren-nano"),
        "wren-mini → wren-base": of_family("wren-mini"),
        "wren-nano → wren-mini": of_each_dtype(to_mini),
        "so wren-mini → wren-base": f"{quickest} (over bf16: {own})",
    }


def test_the_rows_and_the_table_of_methods_of_the_measurements_are_the_stored_ones() -> None:
    assert {beginning: row(beginning) for beginning in rows()} == rows()
    assert with_table(MEASUREMENTS, read_methods(FILE)) == MEASUREMENTS, "python -m scripts.write_methods_table"


def test_the_table_of_methods_is_written_with_intervals_and_a_short_trial_has_none() -> None:
    greedy, sampled = methods_section(measured()).split("Temperature 1:")
    assert "| wren-nano (tree) | 2.00 | 0.10 | 1.50 | 1.00× [0.90–1.10] | 1.00× [0.90–1.10] | – | – | – |" in greedy
    assert "argmax" not in greedy
    assert "medusa" not in sampled
    trial = methods_section(replace(measured(), tokens=8))
    assert "short trial" in trial
    assert "×" not in trial
