"""Bad input on the command line: status 2, one line on standard error, nothing on standard output, no traceback."""

import json
import re
from pathlib import Path
from unittest.mock import Mock

import pytest

from specviz.cli import traces
from specviz.core.trace import dump_trace
from tests.support.architectures import random_weights
from tests.support.commands import HOSTILE, PAIR, PROMPT, SHORT, Cli, hostile_trace, without_progress
from tests.support.gguf_files import write_gguf
from tests.support.tiny_models import save, tiny_model


def refused(run: Cli, *arguments: object) -> str:
    status, out, err = run(*arguments)
    err = without_progress(err)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"specviz: [^\x00-\x1f\x7f]+\n", err), "one line without control characters"
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing command"),
        (["nonsense"], "No such command 'nonsense'"),
        (["run"], "Missing option '--target'"),
        (["run", *PAIR], "Give a prompt: --prompt TEXT or --prompt-file F"),
        (["run", *SHORT, *PROMPT, "--top-k", "-1"], r"top_k must be at least 1, not -1; leave it out for no limit\."),
        (["run", *SHORT, *PROMPT, "--top-p", "0"], r"top_p must be above 0 and at most 1, not 0\.0; leave it out"),
        (["run", "--target", "x/y.gguf", "--draft", "lookup", *PROMPT], "such as x/y.gguf loads by its path"),
        (["run", "--target", "wren-base", "--draft", "/y.GGUF", *PROMPT], "A GGUF file such as"),
        (["run", "--target", "a/model.safetensors", "--draft", "lookup", *PROMPT], "is a file: give its folder"),
        (["compare", *SHORT, "--prompt", "word " * 505, "--max-new-tokens", "40"], r"tokens\) and 40 new tokens do"),
        (["run", *SHORT, "--prompt", ""], "The prompt is empty"),
        (["run", *SHORT, "--prompt", "\x01\x1b\x7f"], "control characters only"),
        (["run", *SHORT, "--prompt", "a" * 2**20], "1,048,576 characters, and at most 20,000"),
        (["run", *SHORT, "--prompt", "half a \udcff character"], "half a character"),
        (["run", *SHORT, *PROMPT, "--prompt-file", "x"], "cannot be given together"),
        (["run", *SHORT, "--prompt-file", "/no/such/file"], "cannot be read: No such file"),
        (["run", *SHORT, "--prompt-file", "/"], "cannot be read: Is a directory"),
        (["run", "--target", "nonsense", "--draft", "wren-nano", *PROMPT], "no model named 'nonsense'"),
        (["run", "--target", "wren-base", "--draft", "\x1b[31m", *PROMPT], "no model named"),
        (["run", "--target", "docs", "--draft", "prompt-lookup", *PROMPT], "is not a model: it has no config.json"),
        (["run", *PAIR, *PROMPT, "--max-new-tokens", "508"], r"5 tokens\) and 508 new tokens do not fit wren-base's"),
        (["run", *SHORT, "--prompt", "word " * 900], "do not fit wren-base's context window of 512 tokens"),
        (["sweep", *PAIR, "--max-new-tokens", "510"], "do not fit"),
        (["run", *PAIR, *PROMPT, "--max-new-tokens", "0"], "max_new_tokens must be at least 1, not 0"),
        (["run", *PAIR, *PROMPT, "--max-new-tokens", "1e3"], "'--max-new-tokens'"),
        (["run", *SHORT, *PROMPT, "--draft-schedule", "wild"], "'--draft-schedule'"),
        (["run", *SHORT, *PROMPT, "--regex", "a("], "regular expression cannot be used: unclosed group."),
        (["compare", *SHORT, *PROMPT, "--json-schema", "/no/such/file"], "/no/such/file cannot be read: No such file"),
        (["run", *SHORT, *PROMPT, "--json-schema", "README.md"], "JSON schema is not JSON"),
        (["compare", *SHORT, *PROMPT, "--json-schema", "x", "--regex", "y"], "cannot be given together"),
        (["run", *PAIR, *PROMPT, "--threads", "0"], "--threads must be at least 1, not 0"),
        (["run", *PAIR, *PROMPT, "--dtype", "int8"], "'--dtype'"),
        (["run", *PAIR, *PROMPT, "--no\nsuch\x1b[31m"], "No such option: --no"),
        (["compare", *SHORT, *PROMPT, "--repeats", "0"], "repeats must be at least 1, not 0"),
        (["sweep", *SHORT, "--workload", "nonsense"], "no workload 'nonsense': use story, code"),
        (["sweep", *SHORT, "--draft-lengths", "1,x"], "whole numbers with commas between, not '1,x'"),
        (["sweep", *SHORT, "--draft-lengths", "1,99"], "from 1 to 16, not '1,99'"),
        (["sweep", *SHORT, "--temperatures", "warm"], "--temperatures takes numbers with commas between, not 'warm'"),
        (["sweep", *SHORT, "--temperatures", "0,99"], "temperature must be from 0 to 10, not 99"),
        (["sweep", *SHORT, "--schedules", "fixed,wild"], "--schedules takes fixed, heuristic and confidence"),
        (["sweep", *SHORT, "--prompts", "-1"], "--prompts must be at least 1, not -1"),
        (["compare", *SHORT, "--prompts-file", "/no/such/file"], "cannot be read: No such file"),
        (["compare", *SHORT, *PROMPT, "--prompts-file", "x"], "cannot be given together"),
        (["compare", *SHORT, "--prompts-file", "x", "--regex", "a"], "are for one prompt: leave out --prompts-file"),
        (["compare", *SHORT, *PROMPT, "--csv", "x"], "--csv is for several prompts: use --prompts-file"),
        (["compare", *SHORT, *PROMPT, "--draft-lengths", "1"], "--draft-lengths is for several prompts"),
        (["show"], "TRACE.json"),
        (["show", "/no/such/trace.json"], "cannot be read: No such file"),
        (["show", "/dev/zero"], "larger than 32 MB"),
        (["models", "--json", "/no/such/folder/x.json"], "cannot be written: No such file"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)  # fmt: skip
def test_bad_input_is_one_line(run: Cli, arguments: list[str], says: str) -> None:
    assert re.search(says, refused(run, *arguments))


def test_bad_files_are_one_line(run: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xff\xfe\x00binary\x80")
    assert "is not UTF-8 text" in refused(run, "run", *SHORT, "--prompt-file", file)
    assert "The trace is not valid at the file" in refused(run, "show", file)
    assert "is not UTF-8 text" in refused(run, "sweep", *SHORT, "--csv", file)
    file.write_text("a" * 2**20)
    assert "1,048,576 characters" in refused(run, "run", *SHORT, "--prompt-file", file)
    file.write_text("my,own,table\n1,2,3")
    assert "it has no column target" in refused(run, "sweep", *SHORT, "--csv", file)
    assert file.read_text() == "my,own,table\n1,2,3"
    trace = json.loads(dump_trace(hostile_trace()))
    trace["rounds"][0]["drafted"][0]["id"] = HOSTILE
    file.write_text(json.dumps(trace))
    assert "not valid at rounds.0.drafted.0.id" in refused(run, "show", file)


def test_sampling_with_two_tokenizers(run: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny, short = save(tiny_model(seed=1), tmp_path), ("--max-new-tokens", "2", "--temperature", "1")
    capsys.readouterr()  # what saving printed
    said = refused(run, "run", "--target", "wren-base", "--draft", tiny, *PROMPT, *short)
    assert f"{tiny} cannot draft for wren-base, because their tokenizers differ" in said
    assert "set the temperature to 0, or use one family." in said


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (RuntimeError("a\nstory\x1b of two lines"), "specviz: unexpected RuntimeError: a story␛ of two lines\n"),
        (MemoryError(), "specviz: stopped before it was done: the memory is full.\n"),
    ],
    ids=["unexpected", "memory"],
)
def test_anything_else_is_status_1(run: Cli, monkeypatch: pytest.MonkeyPatch, error: BaseException, says: str) -> None:
    monkeypatch.setattr(traces, "read_trace", Mock(side_effect=error))
    assert run("show", "x.json") == (1, "", says)


def test_a_gguf_file_is_a_target_and_one_that_is_cut_gets_one_line(run: Cli, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "small.gguf", random_weights("llama", {"vocab_size": 300}), "BF16")
    arguments = ("run", "--target", file, "--draft", "lookup", *PROMPT, "--max-new-tokens", "4")
    status, out, _ = run(*arguments)
    assert (status, "Identical: both wrote the same 4 tokens." in out) == (0, True)
    file.write_bytes(file.read_bytes()[:-100])
    assert "small.gguf is incomplete or broken (output.weight)" in refused(run, *arguments)
