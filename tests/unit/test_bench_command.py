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

from specviz.cli.bench import _explain_resume
from specviz.cli.main import main
from specviz.measure.endpoints.result import dump_result, read_result
from tests.support.bench_results import make_bench
from tests.support.endpoint_server import FakeServer, Reply, event, run_alone, running, said
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


def test_a_bench_ends_with_a_table_a_conclusion_and_its_files(servers: Both, tmp_path: Path, capsys: Errors) -> None:
    files = ["--json", str(tmp_path / "bench.json"), "--csv", str(tmp_path / "rows.csv")]
    assert bench([*urls(servers), *ASKED, "--concurrency", "1,2", "--drafts", "wren-nano", *files]) == 0
    found = read_result((tmp_path / "bench.json").read_bytes())
    assert found.settings.concurrency == [1, 2]
    assert (found.with_.system, found.with_.version) == ("vLLM", "0.32.0")
    assert found.with_.drafts == "wren-nano"
    assert len(found.answers) == 2 * (3 + 24)
    assert {prompt.workload for prompt in found.prompts} == {"story"}
    out = capsys.readouterr().out
    assert "story-1" in out
    assert out.rstrip().endswith(".")
    assert len((tmp_path / "rows.csv").read_text().splitlines()) > 3


def test_imported_files_are_one_json_on_standard_output(capsys: Errors) -> None:
    files = sorted(str(path) for path in (RECORDS / "benches").glob("*.json"))
    assert bench(["bench", "--import", files[0], files[-1], "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["imported"]
    assert all(sentence.endswith(".") for sentence in told["conclusion"])


def test_one_server_alone_is_measured(servers: Both, capsys: Errors) -> None:
    assert bench([*urls(servers)[:3], *ASKED]) == 0
    assert "speedup" not in capsys.readouterr().out.splitlines()[0]


def test_a_chat_is_asked_as_messages(servers: Both, tmp_path: Path, capsys: Errors) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}\n')
    assert bench([*urls(servers), "--prompts-file", str(file), "--api", "chat"]) == 0
    said_before, said_last = servers[0].asked[-1]["messages"]
    assert said_before == {"role": "system", "content": "Be brief."}
    assert said_last == {"role": "user", "content": "Hi"}
    assert bench([*urls(servers), "--prompts-file", str(file)]) == 2
    assert "is a conversation: ask it with --api chat" in capsys.readouterr().err


def test_the_key_is_sent_and_is_in_no_file_and_no_line(
    servers: Both, tmp_path: Path, capsys: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_KEY", KEY)
    file = tmp_path / "bench.json"
    assert bench([*urls(servers), *ASKED, "--key-env", "BENCH_KEY", "--json", str(file)]) == 0
    assert servers[0].keys[-1] == f"Bearer {KEY}"
    servers[1].answer = lambda _: said(f"no such key: {KEY}", 401)
    assert bench([*urls(servers), *ASKED, "--key-env", "BENCH_KEY"]) == 2
    out, err = capsys.readouterr()
    assert "no such key: …" in err
    assert KEY not in out + err + file.read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--with", "localhost"], "--with: 'localhost' is no address"),
        ([], "Give --with URL and --without URL"),
        (["--with", "http://localhost:1"], "Say what to ask"),
        (["--with", "http://localhost:1", *ASKED, "--concurrency", "1,x"], "--concurrency takes whole numbers"),
        (["--with", "http://localhost:1", *ASKED, "--concurrency", "0"], "numbers from 1 to 1,024, not '0'"),
        (["--with", "http://localhost:1", *ASKED, "--repeats", "0"], "--repeats must be from 1 to 1,000, not 0"),
        (["--with", "http://localhost:1", *ASKED, "--max-new-tokens", "5000"], "from 1 to 4,096, not 5000"),
        (
            ["--with", "http://localhost:1", *ASKED, "--temperature", "nan"],
            "--temperature must be from 0 to 100, not nan",
        ),
        (["--with", "http://localhost:1", "--workload", "novels"], "There is no workload 'novels'"),
        (["--with", "http://localhost:1", *ASKED, "--key-env", "NO_SUCH_KEY"], "there is no environment variable"),
        (["--with", "http://localhost:1", *ASKED, "--csv", "no/such/rows.csv"], "its folder does not exist"),
        (["--with", "http://localhost:1", *ASKED], "http://localhost:1/v1: nothing answers at localhost:1"),
        (["--with", "http://localhost:1", "--import", "a", "b"], "--import reads files, and --with asks a server"),
        (["--import", "no-file", "b"], "no-file cannot be read"),
    ],
)
def test_bad_input_is_one_line(options: list[str], sentence: str, capsys: Errors) -> None:
    assert bench(["bench", *options]) == 2
    out, err = capsys.readouterr()
    problem = [line for line in err.splitlines() if not line.startswith("progress: ")]
    assert len(problem) == 1
    assert sentence in problem[0]
    assert out == ""


def test_a_file_of_another_bench_is_not_touched(servers: Both, tmp_path: Path, capsys: Errors) -> None:
    file = tmp_path / "bench.json"
    assert bench([*urls(servers), *ASKED, "--json", str(file)]) == 0
    before = file.read_bytes()
    assert bench([*urls(servers), *ASKED, "--json", str(file), "--repeats", "2"]) == 2
    assert f"{file} holds another bench (its settings differ): name another file" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_file_that_cannot_be_written_is_found_before_anything_is_measured(
    servers: Both, tmp_path: Path, capsys: Errors
) -> None:
    assert bench([*urls(servers), *ASKED, "--json", str(tmp_path / "none" / "bench.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert len(servers[0].asked) == 1  # whether it answers


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


def test_a_server_against_itself_says_how_small_a_difference_can_be_told(
    servers: Both, tmp_path: Path, capsys: Errors
) -> None:
    file = tmp_path / "bench.json"
    assert bench(["bench", "--aa", servers[0].url, *ASKED, "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "A server against itself" in out
    assert "× is too close to call" in out
    assert "same server" not in out
    assert read_result(file.read_bytes()).against_itself


@pytest.mark.parametrize("loads", ["1", "1,2"])
def test_the_same_server_twice_or_swapped_ones_end_with_that_sentence(
    loads: str, servers: Both, capsys: Errors
) -> None:
    speculative, plain = servers
    asked = [*ASKED, "--concurrency", loads]
    assert bench(["bench", "--with", plain.url, "--without", speculative.url, *asked]) == 2
    out, err = capsys.readouterr()
    assert "the addresses are probably swapped" in err
    assert "helps" not in out
    assert bench(["bench", "--with", plain.url, "--without", plain.url, *asked]) == 2
    assert "Both addresses are the same server" in capsys.readouterr().err
    other_name = plain.url.replace("127.0.0.1", "localhost")
    assert bench(["bench", "--with", plain.url, "--without", other_name, *asked]) == 2
    assert "Both addresses are the same server" in capsys.readouterr().err


def test_a_saved_bench_is_said_again_and_a_script_can_ask_for_a_least_speedup(tmp_path: Path, capsys: Errors) -> None:
    file = tmp_path / "bench.json"
    file.write_text(dump_result(make_bench({1: 1.5, 4: 1.2})), encoding="utf-8")
    assert bench(["bench", "--show", str(file), "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    said_of = [(each["concurrency"], each["verdict"], each["trusted"]) for each in told["results"]]
    assert said_of == [(1, "helps", True), (4, "helps", True)]
    assert read_result(json.dumps(told).encode()) == make_bench({1: 1.5, 4: 1.2})
    assert bench(["bench", "--show", str(file), "--fail-below", "1.1"]) == 0
    assert bench(["bench", "--show", str(file), "--fail-below", "1.3"]) == 1
    assert "not certain to be at least 1.3×" in capsys.readouterr().err
    file.write_text(dump_result(make_bench({1: 9.0})), encoding="utf-8")  # above the tokens of a round
    assert bench(["bench", "--show", str(file), "--fail-below", "1.1"]) == 1


def test_each_server_gets_its_own_key_and_not_the_other_ones(servers: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "sk-ours")
    monkeypatch.setenv("PLAIN", "sk-plain")
    assert bench([*urls(servers), *ASKED, "--key-env-with", "OURS", "--key-env-without", "PLAIN"]) == 0
    assert set(servers[0].keys) == {"Bearer sk-ours"}
    assert set(servers[1].keys) == {"Bearer sk-plain"}


def test_further_fields_go_with_each_request_and_stand_in_the_file(
    servers: Both, tmp_path: Path, capsys: Errors
) -> None:
    file = tmp_path / "bench.json"
    more = '{"draft_model": "small"}'
    assert bench([*urls(servers), *ASKED, "--extra-body", more, "--json", str(file)]) == 0
    assert all(body["draft_model"] == "small" for server in servers for body in server.asked)
    assert read_result(file.read_bytes()).settings.extra_body == more
    for wrong in ("[1]", "{", "3"):
        assert bench([*urls(servers), *ASKED, "--extra-body", wrong]) == 2
        assert "--extra-body takes one JSON object" in capsys.readouterr().err


def test_ctrl_c_before_anything_is_measured_names_no_file(tmp_path: Path) -> None:
    assert _explain_resume(str(tmp_path / "bench.json")).startswith("nothing is saved")
    (tmp_path / "bench.json").touch()
    assert "what was measured is in" in _explain_resume(str(tmp_path / "bench.json"))


def test_each_server_may_have_its_own_name_of_the_model_and_the_file_says_how_prompts_were_cached(
    tmp_path: Path, capsys: Errors
) -> None:
    file = tmp_path / "bench.json"
    with running(FakeServer(models=("a", "b"), drafts=2)) as ours, running(FakeServer(models=("c", "d"))) as plain:
        named = ["--model-with", "b", "--model-without", "c", "--prefix-cache", "warm", "--json", str(file)]
        assert bench([*urls((ours, plain)), *ASKED, *named]) == 0
    result = read_result(file.read_bytes())
    assert (result.with_.model, known(result.without).model) == ("b", "c")
    assert result.settings.prefix_cache == "warm"
