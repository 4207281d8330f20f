"""Reading counters from pasted lines, as the engines write them, from answers and from public reports.

`tests/fixtures/counters.yaml` holds texts, `reports/expected.yaml` names files, with what is read in each; the snapshot
has what the program says of it.
"""

import json
import re
import string
import textwrap
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from json import JSONDecoder
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from specviz import systems
from specviz.systems import finding, others, read_counters, say_count, sglang, tensorrt_llm, vllm
from tests.support.records import FIXTURES, report
from tests.support.strategies import refusal

REFUSED, DERIVED, CASES, REPORTS = (
    yaml.safe_load((FIXTURES / f"{name}.yaml").read_text("utf-8"))
    for name in ("refused", "derived_counters", "counters", "reports/expected")
)
TEXTS: dict[str, str] = {name: case.get("text") or json.dumps(case["answer"]) for name, case in CASES.items()}
METRICS, LOG = TEXTS["vLLM's metrics"], TEXTS["vLLM's log"]
VLLM = CASES["vLLM's answer"]["answer"]["metrics"]["speculative_decoding"]
SGLANG = CASES["SGLang's answer"]["answer"]["meta_info"]
LLAMA = CASES["llama.cpp's answer"]["answer"]["timings"]
LM_STUDIO = CASES["LM Studio"]["answer"]["stats"]
TENSORRT_STEPS = CASES["TensorRT-LLM, newer"]["answer"]["choices"][0]


def joined(copies: list[dict[str, Any]]) -> str:
    """Texts of `CASES` one after the other, each with other words in the place of some, and other fields beside."""
    texts = []
    for copy in copies:
        text = TEXTS[copy["of"]]
        if "beside" in copy:
            text = json.dumps(json.loads(text) | copy["beside"])
        for old, new in copy.get("change", {}).items():
            assert old in text
            text = text.replace(old, new)
        texts.append(copy.get("before", "") + text + copy.get("then", ""))
    return "\n".join(texts)


CHANGED = {name: (case.get("text") or joined(case["copies"]), case["gives"]) for name, case in DERIVED.items()}
READ = {name: (TEXTS[name], case["gives"]) for name, case in CASES.items()} | CHANGED
READ |= {name: (report(name).read_text("utf-8"), case) for name, case in REPORTS.items()}


def worked(value: object) -> object:
    """A number or a list of them, of which some are fractions such as 4/43."""
    if isinstance(value, list):
        return tuple(map(worked, value))
    return float(Fraction(value)) if isinstance(value, str) and "/" in value else value


@pytest.mark.parametrize("name", READ)
def test_the_counters_in_a_text(name: str, snapshot: SnapshotAssertion) -> None:
    """Each field as given; of notes, one that contains the given text."""
    text, fields = READ[name]
    if "says" in fields:
        assert re.search(fields["says"], refusal(lambda: read_counters(text)))
        return
    counters = read_counters(text)
    assert "\n".join([counters.reading, *counters.notes]) == snapshot
    for field, given in fields.items():
        found, wanted = getattr(counters, field), worked(given)
        if field == "notes" and given:
            assert any(given in note for note in found)
        else:
            assert found == (pytest.approx(wanted) if isinstance(wanted, float | tuple) else wanted), field


def test_of_a_stream_the_last_part_counts_and_objects_after_some_that_are_not_closed_are_found() -> None:
    early = json.dumps({"timings": LLAMA | {"predicted_n": 20, "draft_n": 30, "draft_n_accepted": 9}})
    last = json.dumps({"timings": LLAMA})
    assert read_counters(f"data: {early}\n\ndata: {last}\n\ndata: [DONE]") == read_counters(last)
    for wrap in ("[ INFO ] started\n[\n[\n{}\n", '"metrics": {},', "[{}, {{}}]", "$ curl x\n{}\ndone"):
        for text in (last, json.dumps({"timings": LLAMA}, indent=2)):
            assert read_counters(wrap.format(text)).accepted == LLAMA["draft_n_accepted"]


ANSWER_OF = {"vllm": VLLM, "sglang": SGLANG, "llama.cpp": LLAMA, "lmstudio": LM_STUDIO}
PARTS = {"vllm": "speculative_decoding", "sglang": "meta_info", "llama.cpp": "timings"}


def refused_text(case: dict[str, Any]) -> str:
    """The text itself, one of `CASES` with other words, or an answer of that system with other values."""
    if "of" not in case:
        return case.get("text") or joined(case["copies"])
    changed, part = ANSWER_OF[case["of"]] | case["with"], PARTS.get(case["of"])
    beside = {"usage": {"completion_tokens": case["written"]}} if "written" in case else {}
    return json.dumps({part: changed, **beside} if part else changed)


NONE_FOUND = say_count("nothing_found")
SLOW = [  # once
    *('vllm:x{a="' + "\\" * 50_000, "vllm:x{" * 50_000, "\t" * 500_000, "\nvllm:x" * 49_000, "> " * 500_000),
    *("{'" + "\\'" * 400_000, "{'a" * 300_000, "INFO SpecDecoding\n" + "0.1, \n" * 49_000, "| " * 500_000),
    *("vllm:x{" + "".join(f'l{i}="",' for i in range(90_000)) + "} 1", "Mean acceptance length: " + " " * 500_000),
]
LONG = {
    "x" * (systems.MAX_CHARACTERS + 1): "The text has 1,000,001 characters",
    'num_drafts{a="1"} 1\n' * 50_000: "more than 5,000 lines that may be counters",
    "SpecDecoding metrics:" + "Accepted:" * 50_000: "Mean acceptance length is missing",
    "draft\n" + "x\n" * systems.MOST_LINES: "more than 50,000 lines that may be counters",
    "num_drafts 1\n" + ("a 1" + " " * 3_900 + "x\n") * 250: "num_accepted_tokens is missing",
    json.dumps({"speculative_decoding": VLLM}).replace(
        "129", "9" * 5_000
    ): "num_draft_tokens is “99999999999999999999…”",
    **{f"draft {text}"[: systems.MAX_CHARACTERS]: NONE_FOUND for text in SLOW},
}
RUBBISH = [(refused_text(case), case["says"]) for case in REFUSED] + [*LONG.items()]


@pytest.mark.parametrize(("text", "sentence"), RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_gets_one_sentence(text: str, sentence: str) -> None:
    assert sentence in refusal(lambda: read_counters(text))


def test_a_text_that_has_no_known_name_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: each of 500,000 lines was compared with every pattern, 4 to 10 s of a processor."""
    monkeypatch.setattr(systems, "plain", lambda _: pytest.fail("it was read"))
    for text in ("x\n" * 499_000, "a,b,c\n" * 160_000, '{"a": 1}\n' * 100_000, string.printable, "rate 0.8\n" * 100):
        assert refusal(partial(read_counters, text)).startswith(NONE_FOUND)


def test_every_system_has_a_name_by_which_its_text_is_read() -> None:
    """Its record has one of the first names, and all of the second ones."""

    def is_known(name: str) -> bool:
        return any(word in name.lower() for word in systems.WORDS)

    for system in (*systems.ROWS, *vllm.LAST_ROWS, others.USAGE, sglang.ROW):
        assert any(map(is_known, system.with_all)) or all(map(is_known, system.needs)), system
    beside = {"num_running_reqs"}  # nothing is read of it alone
    assert {name for name in vllm.METRICS | sglang.METRICS | tensorrt_llm.METRICS if not is_known(name)} == beside


WRAPPED = """INFO 05-01 14:24:50 [loggers.py:259] Engine 000: Running: 7 reqs, Waiting: 0 reqs
{}
INFO 05-01 14:25:00 [loggers.py:259] Engine 000: Running: 7 reqs, Waiting: 0 reqs"""


@pytest.mark.parametrize("width", [40, 66, 80, 100, 132])
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_line_of_a_log_may_be_wrapped_between_words_or_anywhere(width: int, indent: str) -> None:
    for line in (LOG.splitlines()[1], TEXTS["SGLang's log"], TEXTS["llama.cpp's log"].splitlines()[1]):
        by_word = textwrap.fill(line, width, subsequent_indent=indent)
        by_width = "\n".join(line[start : start + width] for start in range(0, len(line), width))
        whole = read_counters(WRAPPED.format(line))
        assert read_counters(WRAPPED.format(by_word)) == read_counters(WRAPPED.format(by_width)) == whole


LOGGED: dict[str, Callable[[str], str]] = {
    "Docker": lambda line: json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2026-05-01T14:24:50.1Z"}),
    "a log of objects": lambda line: json.dumps({"level": "info", "kubernetes": {"pod": "a"}, "message": line}),
    "Kubernetes": lambda line: f"2026-05-01T14:24:50.1Z stderr F {line}",
    "Docker Compose": lambda line: f"vllm-1  | {line}",
    "colours": lambda line: line.replace("INFO", "\x1b[1;36mINFO\x1b[0m").replace("Mean", "\x1b[32mMean\x1b[0m"),
    "colours without their escapes": lambda line: line.replace("INFO", "[1;36mINFO[0;0m"),
}
FRAMES: dict[str, Callable[[str], str]] = {
    "a quote": lambda line: f"> > {line}",
    "a quote of code": lambda line: f"> `{line}`",
    "a list": lambda line: f"- {line}",
    "a table": lambda line: f"| {line} |",
    "bold names": lambda line: re.sub(r"^([\w:]+)", r"**\1**", line),
    "escaped names": lambda line: line.replace("_", "\\_"),
    "grep": lambda line: f"logs/metrics-1.txt:12:{line}",
    "blanks that do not break": lambda line: line.replace(" ", "\u00a0"),
    "signs of full width": lambda line: line.replace("=", "＝").replace(",", "，"),
    "another engine's prefix": lambda line: line.replace("vllm:spec_decode", "aphrodite:spec_decode"),
    "an example": lambda line: f'{line} # {{trace_id="a"}} 1.0 1520879607.789',
    "a time": lambda line: f"{line} 1764000000000",
    "a label with quotation marks": lambda line: line.replace('model_name="m"', 'model_name="a \\"b\\" {c}, d"'),
    "tabs": lambda line: line.replace(" ", "\t"),
    "no prefix": lambda line: line.removeprefix("vllm:"),
    "no prefixes": lambda line: line.removeprefix("vllm:").replace("spec_decode_", ""),
    "a line that was cut off": lambda line: f'{line}\nvllm:spec_decode_num_drafts_total{{engine="0",mod\nvllm:spec_de',
    "the ends of lines of Windows": lambda line: f"{line}\r",
}


@pytest.mark.parametrize("name", [*FRAMES, *LOGGED])
def test_what_is_pasted_may_be_framed_by_where_it_is_from(name: str) -> None:
    lines = [line for line in METRICS.splitlines() if not line.startswith("#")]
    framed = ["```", *map(FRAMES[name], lines), "```"] if name in FRAMES else [LOGGED[name](LOG.splitlines()[1])]
    assert read_counters("\n".join(framed)) == read_counters(METRICS if name in FRAMES else LOG.splitlines()[1])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "answer" in case])
def test_an_object_may_be_printed_by_python_or_begin_in_the_middle_of_a_line(name: str) -> None:
    answer = CASES[name]["answer"]
    for text in (
        repr(answer),
        f"[2026-09-10][INFO] it’s done: out={answer!r}, took 3 s",
        f"[2026-09-10][INFO][m] Generated prediction: {json.dumps(answer, indent=2)}\n[2026-09-10][INFO] closed",
    ):
        assert read_counters(text) == read_counters(json.dumps(answer))


OPEN = {
    "lists": "[\n" * 200 + "1," * 400_000,
    "objects": '{"a":\n' * 200 + "[" + "1," * 400_000,
    "many such": ("[\n" * 100 + "1," * 4_000) * 100,
    "an open text": '[\n"' + "a" * 400_000 + "\n" + "[\n" * 1_000,
}


@pytest.mark.parametrize("name", OPEN)
def test_brackets_that_are_never_closed_are_read_about_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: each of them was read to the end of the text, 28 s for a megabyte."""
    read, text = list[int](), OPEN[name]

    class Counted(JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            try:
                return super().raw_decode(s, idx)
            except (ValueError, RecursionError) as error:
                read.append(getattr(error, "pos", len(s)) - idx)
                raise

    monkeypatch.setattr(finding, "_DECODER", Counted())
    refusal(lambda: read_counters(f"draft\n{text}"))
    assert len(text) / 2 < sum(read) < 6 * len(text)


def test_of_what_was_read_names_are_said_once_and_no_name_of_somebody_else() -> None:
    assert read_counters(LOG + LOG).reading == read_counters(LOG).reading
    strange = read_counters('{"timings": {"draft_n": 9, "draft_n_accepted": 3, "<b>x</b>": 1}}')
    assert strange.reading == "Read: draft_n and draft_n_accepted."
    calls = "#gen drafts = 130, #acc drafts = 100, #gen tokens = 500, #acc tokens = 300"
    assert read_counters(f"statistics draft: {calls}").reading == "Read: 1 line about speculation."


def test_positions_that_a_server_counts_are_used_also_where_the_limits_of_its_answers_cut_rounds() -> None:
    """Found: four answers were cut in the middle of a round, and no position was said to be counted any more."""
    page = FIXTURES / "records/endpoints/vllm-0.32-draft-metrics-2.txt"
    counters = read_counters(page.read_text())
    assert counters.survival == pytest.approx((22 / 37, 15 / 37, 14 / 37, 13 / 37))
    assert (counters.accepted, counters.tokens_per_target_call) == (64, pytest.approx(1 + 64 / 37))
    assert "passed the ends of the answers" in " ".join(counters.notes)
