"""`specviz bench` from its options to its files: against servers of the test's own."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.cli.bench import _within
from specviz.cli.main import main
from specviz.measure.endpoints.pairs import Within
from specviz.measure.endpoints.result import SIDES, Accepted, BenchResult, dump_result, read_result
from specviz.measure.endpoints.turns import plan
from tests.support.bench_results import PROMPTS, make_bench
from tests.support.endpoint_server import FakeServer, Reply, ending, event, run_alone, running, said
from tests.support.known import known

Both = tuple[FakeServer, FakeServer]  # with and without speculation
Errors = pytest.CaptureFixture[str]
ASKED = ["--workload", "story", "--prompts", "3", "--max-new-tokens", "8"]
CHAT = '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}\n'


WORD = event({"choices": [{"text": "a"}]})


def bench(arguments: list[str]) -> int:
    return run_alone(lambda: main(["bench", *arguments]))


@pytest.fixture
def servers() -> Iterator[Both]:
    with running(FakeServer(drafts=3)) as speculative, running(FakeServer()) as plain:
        yield speculative, plain


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named as they are in a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts.jsonl").write_text(CHAT, encoding="utf-8")


def saved() -> BenchResult:
    return read_result(Path("bench.json").read_bytes())


def urls(speculative: FakeServer, plain: FakeServer) -> list[str]:
    return ["--with", speculative.url, "--without", plain.url]


MEASURED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "two loads": ([*ASKED, "--concurrency", "1,2", "--drafts", "wren-nano"], {}),
    "a chat": (["--prompts-file", "prompts.jsonl", "--api", "chat", "--temperature", "0.5", "--seed", "3"], {}),
    "further fields": ([*ASKED, "--extra-body", '{"draft_model": "small"}', "--repeats", "2"], {}),
    "names of the model": (
        [*ASKED, "--model-with", "b", "--model-without", "c", "--prefix-cache", "warm"], {"models": ("a", "b", "c")},
    ),
    "a key": ([*ASKED, "--key-env", "OURS"], {}),
    "a key for each": ([*ASKED, "--key-env-with", "OURS", "--key-env-without", "PLAIN"], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED)
def test_a_bench_asks_as_it_was_told(name: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """No key stands in the file."""
    options, server = MEASURED[name]
    monkeypatch.setenv("OURS", "sk-ours")
    monkeypatch.setenv("PLAIN", "sk-plain")
    lines = []
    with running(FakeServer(drafts=3, **server)) as ours, running(FakeServer(**server)) as plain:
        assert bench([*urls(ours, plain), *options, "--json", "bench.json", "--csv", "rows.csv"]) == 0
        for each in (ours, plain):
            body = {name: value for name, value in each.asked[-1].items() if name != "cache_salt"}
            body |= {"prompt": len(body["prompt"]) > 20} if "prompt" in body else {}
            lines.append(f"{each.keys} {json.dumps(body, sort_keys=True)}")
    content, rows = Path("bench.json").read_bytes(), Path("rows.csv").read_text("utf-8").splitlines()
    found = read_result(content)
    told = [f"{its.model}, {its.system} {its.version}, {its.drafts}" for its in (found.with_, known(found.without))]
    prompts = [f"{each.name}, {each.workload}" for each in found.prompts]
    lines += [str(found.settings), *told, *prompts, f"{len(found.answers)} answers, {len(rows)} rows"]
    assert "\n".join(lines) == snapshot
    assert b"sk-" not in content


def test_one_server_alone_is_measured(servers: Both, capsys: Errors) -> None:
    assert bench([*urls(*servers)[:2], *ASKED]) == 0
    assert "speedup" not in capsys.readouterr().out.splitlines()[0]


HERE = ["--with", "http://localhost:1"]
LIMITS = "--goodput takes limits such as ttft:500ms,tpot:50ms, not "
REFUSED = {
    "--with: 'localhost' is no address": ["--with", "localhost"],
    "Give --with URL and --without URL": [],
    "Say what to ask": HERE,
    "'line-1' is a conversation: ask it with --api chat": [*HERE, "--prompts-file", "prompts.jsonl"],
    "--concurrency takes whole numbers": [*HERE, *ASKED, "--concurrency", "1,x"],
    "settings.concurrency.0: Input should be greater than or equal to 1": [*HERE, *ASKED, "--concurrency", "0"],
    "settings.rates.0: Input should be greater than or equal to 0.01": [*HERE, *ASKED, "--rate", "0"],
    "settings.rates.0: Input should be a valid number": [*HERE, *ASKED, "--rate", "nan"],
    "--concurrency and --rate are two kinds": [*HERE, *ASKED, "--rate", "2", "--concurrency", "1"],
    "'--repeats': Input should be greater than or equal to 1": [*HERE, *ASKED, "--repeats", "0"],
    "'--max-new-tokens': Input should be less than or equal to 4096": [*HERE, *ASKED, "--max-new-tokens", "5000"],
    "'--temperature': Input should be less than or equal to 100": [*HERE, *ASKED, "--temperature", "nan"],
    "There is no workload 'novels'": [*HERE, "--workload", "novels"],
    "there is no environment variable": [*HERE, *ASKED, "--key-env", "NO_SUCH_KEY"],
    "its folder does not exist": [*HERE, *ASKED, "--csv", "no/such/rows.csv"],
    "http://localhost:1/v1: nothing answers at localhost:1": [*HERE, *ASKED],
    "--import and --with cannot be given together": [*HERE, "--import", "a", "b"],
    "--show and --with cannot be given together": [*HERE, "--show", "a"],
    "--show and --without cannot be given together": ["--without", "http://localhost:3", "--show", "a"],
    "--show and --import cannot be given together": ["--import", "a", "b", "--show", "a"],
    "--with and --aa cannot be given together": [*HERE, "--aa", "http://localhost:3"],
    "--show and --drafts cannot be given together": ["--show", "a", "--drafts", "b"],
    "no-file cannot be read": ["--import", "no-file", "b"],
    "--json - holds one bench": [*HERE, *HERE, "--without", "http://localhost:3", *ASKED, "--json", "-"],
    "Several --with are compared with the same --without": [*HERE, *HERE, *ASKED],
    "There are more --drafts than --with": [*HERE, *ASKED, "--drafts", "a", "--drafts", "b"],
    "There are more --drafts than --with ": ["--import", "a", "b", "--drafts", "a", "--drafts", "b"],
    **{LIMITS + repr(wrong): [*HERE, *ASKED, "--goodput", wrong]
       for wrong in ("ttft=500", "ttft:5ms,ttft:6ms", "ttft:5ms,", "")},
    **{"--extra-body takes one JSON object" + " " * place: [*HERE, *ASKED, "--extra-body", wrong]
       for place, wrong in enumerate(("[1]", "{", "3"), start=1)},
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_one_line(sentence: str, capsys: Errors) -> None:
    assert bench(REFUSED[sentence]) == 2
    out, err = capsys.readouterr()
    [problem] = [line for line in err.splitlines() if not line.startswith("progress: ")]
    assert sentence.rstrip() in problem
    assert out == ""


def test_what_cannot_be_written_is_found_first_and_a_file_of_another_bench_is_not_touched(
    servers: Both, capsys: Errors
) -> None:
    assert bench([*urls(*servers), *ASKED, "--json", "none/bench.json"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert len(servers[0].asked) == 1  # whether it answers
    assert bench([*urls(*servers), *ASKED, "--json", "bench.json"]) == 0
    before = Path("bench.json").read_bytes()
    assert bench([*urls(*servers), *ASKED, "--json", "bench.json", "--repeats", "2"]) == 2
    assert "bench.json holds another bench (its settings differ): name another file" in capsys.readouterr().err
    assert Path("bench.json").read_bytes() == before


def measured(speculative: FakeServer, plain: FakeServer, *options: str) -> BenchResult:
    with running(speculative), running(plain):
        assert bench([*urls(speculative, plain), *ASKED, *options, "--json", "bench.json"]) == 0
    return saved()


def test_a_bench_holds_every_answer_and_what_the_servers_counted_for_others_too() -> None:
    """A server that still writes is waited for."""
    plain = FakeServer(busy=3)
    found = measured(FakeServer(drafts=3, strangers=50), plain)
    assert plain.busy == 0
    planned = [(side, block.jobs[0][0]) for block in plan(3, found.settings, SIDES) for side in block.order]
    assert [(answer.side, answer.prompt) for answer in found.answers] == planned
    assert {(answer.tokens, answer.problem) for answer in found.answers} == {(8, "")}
    began = [answer.began for answer in found.answers]
    assert began == sorted(began)
    spans = Counter(f"{its.side} {its.asked} {its.written} {its.others} {its.accepted}" for its in found.spans)
    rounds, none = Accepted(6, 6, 2, [2, 2, 2]), Accepted(0, 0, 0)
    asked = [f"with True 58 50 {rounds}", "without True 8 0 None"]
    assert spans == dict.fromkeys([*asked, f"with False 0 0 {none}", "without False 0 0 None"], 3)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_so_many_requests_are_under_way_at_once(concurrency: int) -> None:
    together = Barrier(concurrency)  # an answer begins when so many are under way

    def answer(body: dict[str, Any]) -> Reply:
        if len(speculative.asked) > 1:  # the first is whether it answers
            together.wait(60)
        return Reply(speculative.parts(body))

    speculative = FakeServer(answer=answer)
    found = measured(speculative, FakeServer(), "--concurrency", str(concurrency), "--repeats", "4")
    assert not any(each.problem for each in found.answers)
    assert speculative.most_at_once == concurrency
    assert len(speculative.asked) == (12 if concurrency == 1 else 36) + 4  # and some to warm up


@pytest.mark.parametrize("again", [False, True])
def test_a_failed_request_is_repeated_at_the_end_and_keeps_its_problem_if_it_fails_again(again: bool) -> None:
    """The first four requests are whether it answers, and to warm up."""
    asked, fails = count(), [5, *[7] * again]
    server = FakeServer(answer=lambda _: said("no memory", 503) if next(asked) in fails else ending(2, WORD, WORD))
    found = measured(server, FakeServer())
    assert found.notes == [
        "with: 1 request failed and was repeated at the end: it answered 503 Service Unavailable: “no memory”."
    ]
    failed = [(answer.prompt, answer.tokens) for answer in found.answers if answer.problem]
    assert failed == [(plan(3, found.settings, SIDES)[1].jobs[0][0], None)] * again
    assert len(found.answers) == 6


def test_a_few_tokens_more_than_asked_for_are_a_note_and_many_a_problem(capsys: Errors) -> None:
    found = measured(FakeServer(writes=11), FakeServer())
    assert not any(answer.problem for answer in found.answers)
    assert found.notes == ["with: there are answers of more than the 8 tokens that were asked for."]
    with running(many := FakeServer(writes=40)):
        assert bench(["--with", many.url, *ASKED]) == 2
    assert "wrote 40 tokens, and at most 8 were asked for" in capsys.readouterr().err


def hear_ctrl_c() -> None:
    """A shell's background jobs, and what they start, do not hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_saves_what_was_measured_and_the_same_command_goes_on() -> None:
    """The server itself presses Ctrl-C in the second prompt's answer, and then never ends it."""
    pressed, done = list[int](), Event()

    def hanging() -> Iterator[bytes]:
        os.kill(pressed[0], signal.SIGINT)
        done.wait(60)
        yield b""

    def answer(_: dict[str, Any]) -> Reply:
        return Reply(hanging()) if len(speculative.asked) == 6 and not done.is_set() else ending(2, WORD, WORD)

    speculative = FakeServer(answer=answer)
    with running(speculative), running(FakeServer()) as plain:
        options = [*urls(speculative, plain), *ASKED, "--json", "bench.json"]
        command = [sys.executable, "-m", "specviz", "bench", *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
        pressed.append(process.pid)
        _, said_last = process.communicate(timeout=120)
        done.set()
        assert process.returncode == 130
        assert said_last.splitlines()[-1].startswith("specviz: stopped before it was done; what was measured is in")
        first, asked = saved(), len(speculative.asked)
        assert bench(options) == 0
    whole = saved()
    assert (len(first.answers), len(whole.answers), whole.answers[:2]) == (2, 6, first.answers)
    assert len(speculative.asked) - asked == 1 + 3 + 2, "whether it answers, and some to warm up"
    assert [note.split(";")[0] for note in whole.notes] == ["Interrupted with 2 of 3 blocks to do"]
    assert min(answer.began for answer in whole.answers[2:]) > max(answer.began for answer in first.answers)


@pytest.mark.parametrize("json_option", [[], ["--json", "bench.json"]], ids=["no file", "a file"])
def test_a_server_that_is_gone_ends_the_bench_and_what_is_saved_is_said(json_option: list[str], capsys: Errors) -> None:
    asked = count()
    failing = FakeServer(answer=lambda _: said("no memory", 503) if next(asked) > 5 else ending(2, WORD, WORD))
    with running(failing), running(FakeServer()) as plain:
        assert bench([*urls(failing, plain), *ASKED, "--repeats", "3", *json_option]) == 2
    problem = capsys.readouterr().err
    assert "answers no more: it answered 503 Service Unavailable: “no memory”" in problem
    assert ("what was measured is in bench.json" if json_option else "nothing is saved") in problem
    if json_option:
        assert len([*saved().done()]) >= 4


def test_a_server_is_measured_against_itself(servers: Both, capsys: Errors) -> None:
    """What is said then depends on its times: tests/unit/test_bench_findings.py."""
    assert bench(["--aa", servers[0].url, *ASKED, "--json", "bench.json"]) == 0
    assert "same server" not in capsys.readouterr().out
    assert saved().against_itself


@pytest.mark.parametrize("loads", ["1", "1,2"])
def test_the_same_server_twice_or_swapped_ones_end(loads: str, servers: Both, capsys: Errors) -> None:
    speculative, plain = servers
    other = FakeServer(url=plain.url.replace("127.0.0.1", "localhost"))
    same = "Both addresses are the same server"
    for ours, theirs, sentence in (
        (plain, speculative, "the addresses are probably swapped"), (plain, plain, same), (plain, other, same)
    ):  # fmt: skip
        assert bench([*urls(ours, theirs), *ASKED, "--concurrency", loads]) == 2
        out, err = capsys.readouterr()
        assert sentence in err
        assert "helps" not in out


def test_a_saved_bench_is_said_again(capsys: Errors, snapshot: SnapshotAssertion) -> None:
    made, show = make_bench({1: 1.5, 4: 1.2}, prompts=PROMPTS[::5]), ["--show", "bench.json"]
    Path("bench.json").write_text(dump_result(made), encoding="utf-8")
    assert bench([*show, "--json", "-"]) == 0
    out = capsys.readouterr().out
    assert read_result(out.encode()) == made
    assert {(each["verdict"], each["trusted"]) for each in json.loads(out)["results"]} == {("helps", True)}
    assert bench([*show, "--fail-below", "1.1", "--goodput", "ttft:0.5s,tpot:20ms"]) == 0
    assert capsys.readouterr().out == snapshot
    assert bench([*show, "--fail-below", "1.3"]) == 1
    assert "not certain to be at least 1.3×" in capsys.readouterr().err
    Path("bench.json").write_text(dump_result(make_bench({1: 9.0})), encoding="utf-8")  # above the tokens of a round
    assert bench([*show, "--fail-below", "1.1"]) == 1
    assert [_within("ttft:0.5s,tpot:50ms"), _within("tpot:1.5s")] == [Within(0.5, 0.05), Within(None, 1.5)]


def test_several_servers_have_a_bench_and_a_file_each(servers: Both, capsys: Errors) -> None:
    with running(FakeServer(drafts=1)) as other:
        asked = ["--with", other.url, *urls(*servers), *ASKED, "--drafts", "short", "--drafts", "long"]
        assert bench([*asked, "--json", "bench.json"]) == 0
    found = [read_result(Path(f"bench-{number}.json").read_bytes()) for number in (1, 2)]
    assert [each.with_.drafts for each in found] == ["short", "long"]
    assert not Path("bench.json").exists()
    last = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("long", "short")) for line in last) == 2
    assert "at concurrency 1" in last[-1].lower()
