"""`specviz bench` from its options to its files: against servers of the test's own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.cli.bench import _explain_resume
from specviz.cli.main import main
from specviz.measure.endpoints.result import dump_result, read_result
from tests.support.bench_results import PROMPTS, make_bench
from tests.support.endpoint_server import FakeServer, Reply, event, run_alone, running
from tests.support.known import known

RECORDS = Path(__file__).parents[1] / "fixtures" / "records"
KEY = "sk-secret-0123456789"
Both = tuple[FakeServer, FakeServer]  # with and without speculation
Errors = pytest.CaptureFixture[str]
ASKED = ["--workload", "story", "--prompts", "3", "--max-new-tokens", "8"]


def bench(arguments: list[str]) -> int:
    return run_alone(lambda: main(arguments))


@pytest.fixture
def servers() -> Iterator[Both]:
    with running(FakeServer(drafts=3)) as speculative, running(FakeServer()) as plain:
        yield speculative, plain


def urls(servers: Both) -> list[str]:
    speculative, plain = servers
    return ["bench", "--with", speculative.url, "--without", plain.url]


CHAT = '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}\n'
MEASURED = {
    "two loads": ([*ASKED, "--concurrency", "1,2", "--drafts", "wren-nano"], {}),
    "a chat": (["--prompts-file", "prompts.jsonl", "--api", "chat", "--temperature", "0.5", "--seed", "3"], {}),
    "further fields": ([*ASKED, "--extra-body", '{"draft_model": "small"}', "--repeats", "2"], {}),
    "names of the model": (
        [*ASKED, "--model-with", "b", "--model-without", "c", "--prefix-cache", "warm"],
        {"models": ("a", "b", "c")},
    ),
    "a key": ([*ASKED, "--key-env", "OURS"], {}),
    "a key for each": ([*ASKED, "--key-env-with", "OURS", "--key-env-without", "PLAIN"], {}),
}


@pytest.mark.parametrize("name", MEASURED)
def test_a_bench_asks_as_it_was_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """No key stands in the file."""
    options, server = MEASURED[name]
    monkeypatch.setenv("OURS", "sk-ours")
    monkeypatch.setenv("PLAIN", "sk-plain")
    (tmp_path / "prompts.jsonl").write_text(CHAT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lines = []
    with running(FakeServer(drafts=3, **server)) as ours, running(FakeServer(**server)) as plain:
        assert bench([*urls((ours, plain)), *options, "--json", "bench.json", "--csv", "rows.csv"]) == 0
        for each in (ours, plain):
            body = {name: value for name, value in each.asked[-1].items() if name != "cache_salt"}
            body |= {"prompt": len(body["prompt"]) > 20} if "prompt" in body else {}
            lines.append(f"{set(each.keys)} {json.dumps(body, sort_keys=True)}")
    content = (tmp_path / "bench.json").read_bytes()
    found = read_result(content)
    told = [f"{its.model}, {its.system} {its.version}, {its.drafts}" for its in (found.with_, known(found.without))]
    prompts = [f"{each.name}, {each.workload}" for each in found.prompts]
    rows = (tmp_path / "rows.csv").read_text("utf-8").splitlines()
    lines += [str(found.settings), *told, *prompts, f"{len(found.answers)} answers, {len(rows)} rows"]
    assert "\n".join(lines) == snapshot
    assert b"sk-" not in content


def test_one_server_alone_is_measured(servers: Both, capsys: Errors) -> None:
    assert bench([*urls(servers)[:3], *ASKED]) == 0
    assert "speedup" not in capsys.readouterr().out.splitlines()[0]


HERE = ["--with", "http://localhost:1"]
REFUSED = {
    "--with: 'localhost' is no address": ["--with", "localhost"],
    "Give --with URL and --without URL": [],
    "Say what to ask": HERE,
    "--concurrency takes whole numbers": [*HERE, *ASKED, "--concurrency", "1,x"],
    "settings.concurrency.0: Input should be greater than or equal to 1": [*HERE, *ASKED, "--concurrency", "0"],
    "'--repeats': Input should be greater than or equal to 1": [*HERE, *ASKED, "--repeats", "0"],
    "'--max-new-tokens': Input should be less than or equal to 4096": [*HERE, *ASKED, "--max-new-tokens", "5000"],
    "'--temperature': Input should be less than or equal to 100": [*HERE, *ASKED, "--temperature", "nan"],
    "There is no workload 'novels'": [*HERE, "--workload", "novels"],
    "there is no environment variable": [*HERE, *ASKED, "--key-env", "NO_SUCH_KEY"],
    "its folder does not exist": [*HERE, *ASKED, "--csv", "no/such/rows.csv"],
    "http://localhost:1/v1: nothing answers at localhost:1": [*HERE, *ASKED],
    "--import reads files, and --with asks a server": [*HERE, "--import", "a", "b"],
    "no-file cannot be read": ["--import", "no-file", "b"],
    **{"--extra-body takes one JSON object" + " " * place: [*HERE, *ASKED, "--extra-body", wrong]
       for place, wrong in enumerate(("[1]", "{", "3"), start=1)},
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_one_line(sentence: str, capsys: Errors) -> None:
    assert bench(["bench", *REFUSED[sentence]]) == 2
    out, err = capsys.readouterr()
    [problem] = [line for line in err.splitlines() if not line.startswith("progress: ")]
    assert sentence.rstrip() in problem
    assert out == ""


def test_what_cannot_be_asked_or_written_is_found_first(servers: Both, tmp_path: Path, capsys: Errors) -> None:
    """A file of another bench is not touched."""
    prompts, file = tmp_path / "prompts.jsonl", tmp_path / "bench.json"
    prompts.write_text(CHAT, encoding="utf-8")
    assert bench([*urls(servers), "--prompts-file", str(prompts)]) == 2
    assert "is a conversation: ask it with --api chat" in capsys.readouterr().err
    assert bench([*urls(servers), *ASKED, "--json", str(tmp_path / "none" / "bench.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert len(servers[0].asked) == 1  # whether it answers
    assert bench([*urls(servers), *ASKED, "--json", str(file)]) == 0
    before = file.read_bytes()
    assert bench([*urls(servers), *ASKED, "--json", str(file), "--repeats", "2"]) == 2
    assert f"{file} holds another bench (its settings differ): name another file" in capsys.readouterr().err
    assert file.read_bytes() == before


def hear_ctrl_c() -> None:
    """A shell's background jobs, and what they start, do not hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_saves_what_was_measured_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """The server itself presses Ctrl-C in the second prompt's answer, and then never ends it."""
    file, pressed, done = tmp_path / "bench.json", list[int](), Event()
    ended = event({"choices": [], "usage": {"completion_tokens": 2}}) + b"data: [DONE]\n"
    whole = [event({"choices": [{"text": "a"}]}), event({"choices": [{"text": "b"}]}), ended]

    def hanging() -> Iterator[bytes]:
        os.kill(pressed[0], signal.SIGINT)
        done.wait(60)
        yield b""

    def answer(_: dict[str, Any]) -> Reply:
        return Reply(hanging() if len(speculative.asked) == 6 and not done.is_set() else whole)

    speculative = FakeServer(answer=answer)
    with running(speculative), running(FakeServer()) as plain:
        command = [sys.executable, "-m", "specviz", *urls((speculative, plain)), *ASKED, "--json", str(file)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
        pressed.append(process.pid)
        _, said_last = process.communicate(timeout=120)
        done.set()
        assert process.returncode == 130
        assert said_last.splitlines()[-1] == (
            f"specviz: stopped before it was done; what was measured is in {file}; the same command measures the rest."
        )
        assert len(read_result(file.read_bytes()).answers) == 2
        assert bench(command[3:]) == 0
    assert len(read_result(file.read_bytes()).answers) == 6


def test_a_server_against_itself_says_what_can_be_told(servers: Both, tmp_path: Path, capsys: Errors) -> None:
    file = tmp_path / "bench.json"
    assert bench(["bench", "--aa", servers[0].url, *ASKED, "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "A server against itself" in out
    assert "× is too close to call" in out
    assert "same server" not in out
    assert read_result(file.read_bytes()).against_itself


@pytest.mark.parametrize("loads", ["1", "1,2"])
def test_the_same_server_twice_or_swapped_ones_end(loads: str, servers: Both, capsys: Errors) -> None:
    speculative, plain = servers
    asked = [*ASKED, "--concurrency", loads]
    assert bench(["bench", "--with", plain.url, "--without", speculative.url, *asked]) == 2
    out, err = capsys.readouterr()
    assert "the addresses are probably swapped" in err
    assert "helps" not in out
    for other in (plain.url, plain.url.replace("127.0.0.1", "localhost")):
        assert bench(["bench", "--with", plain.url, "--without", other, *asked]) == 2
        assert "Both addresses are the same server" in capsys.readouterr().err


def test_a_saved_bench_is_said_again(tmp_path: Path, capsys: Errors, snapshot: SnapshotAssertion) -> None:
    file, made = tmp_path / "bench.json", make_bench({1: 1.5, 4: 1.2}, prompts=PROMPTS[::5])
    file.write_text(dump_result(made), encoding="utf-8")
    assert bench(["bench", "--show", str(file), "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    said_of = [(each["concurrency"], each["verdict"], each["trusted"]) for each in told["results"]]
    assert said_of == [(1, "helps", True), (4, "helps", True)]
    assert read_result(json.dumps(told).encode()) == made
    capsys.readouterr()
    assert bench(["bench", "--show", str(file), "--fail-below", "1.1"]) == 0
    assert capsys.readouterr().out == snapshot
    assert bench(["bench", "--show", str(file), "--fail-below", "1.3"]) == 1
    assert "not certain to be at least 1.3×" in capsys.readouterr().err
    file.write_text(dump_result(make_bench({1: 9.0})), encoding="utf-8")  # above the tokens of a round
    assert bench(["bench", "--show", str(file), "--fail-below", "1.1"]) == 1


def test_ctrl_c_before_anything_is_measured_names_no_file(tmp_path: Path) -> None:
    assert _explain_resume(tmp_path / "bench.json").startswith("nothing is saved")
    (tmp_path / "bench.json").touch()
    assert "what was measured is in" in _explain_resume(tmp_path / "bench.json")
