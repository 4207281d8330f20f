"""Bad input on the command line: status 2, one line on standard error, nothing on standard output, no traceback."""

import json
import re
import shlex
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.trace import dump_trace
from tests.support.commands import HOSTILE, SHORT, Cli, hostile_trace, without_progress


def refused(run: Cli, *arguments: object) -> str:
    status, out, err = run(*arguments)
    err = without_progress(err)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"specviz: [^\x00-\x1f\x7f]+\n", err), "one line without control characters"
    assert "Traceback" not in err
    return err.removeprefix("specviz: ").strip()


# What stands in capitals: `WORDS` and `TEXTS`.
BAD = {
    "usage": """
        NOTHING
        nonsense
        run
        show
        RUN UNKNOWN
        run PAIR
        RUN --prompt-file x
        compare SHORT --prompt a --prompts-file x
        compare SHORT --prompt a --json-schema x --regex y
        compare SHORT --prompts-file x --regex a
        compare SHORT --prompt a --csv x
        compare SHORT --prompt a --draft-lengths 1""",
    "settings": """
        RUN --top-k -1
        RUN --top-p 0
        run PAIR --prompt a --max-new-tokens 0
        run PAIR --prompt a --max-new-tokens 1e3
        RUN --draft-schedule wild
        RUN --tree 2,2 --draft-length 3
        RUN --threads 0
        RUN --dtype int8
        RUN --regex a(
        RUN --json-schema README.md
        compare SHORT --prompt a --json-schema /no/such/file
        compare SHORT --prompt a --repeats 0
        sweep SHORT --workload nonsense
        sweep SHORT --draft-lengths 1,x
        sweep SHORT --draft-lengths 1,99
        sweep SHORT --draft-lengths 6,7 --tree 4,2,1
        sweep SHORT --draft-lengths 1,2 --draft-length 2
        calibrate PAIR --tree 4,x
        calibrate PAIR --draft-length 2
        sweep SHORT --temperatures warm
        sweep SHORT --temperatures 0,99
        sweep SHORT --schedules fixed,wild
        sweep --target wren-base --draft prompt-lookup --schedules confidence
        sweep SHORT --prompts -1""",
    "models": """
        run --target x/y.gguf --draft lookup --prompt a
        run --target wren-base --draft /y.GGUF --prompt a
        run --target a/model.safetensors --draft lookup --prompt a
        run --target nonsense --draft wren-nano --prompt a
        run --target wren-base --draft RED --prompt a
        run --target docs --draft prompt-lookup --prompt a""",
    "lengths": """
        run PAIR --prompt a --max-new-tokens 511
        run SHORT --prompt MANY
        compare PAIR --prompt FIT --max-new-tokens 40
        sweep PAIR --max-new-tokens 510""",
    "prompts": """
        run SHORT --prompt ''
        run SHORT --prompt CONTROLS
        run SHORT --prompt LONG
        run SHORT --prompt HALF
        run SHORT --prompt-file /no/such/file
        run SHORT --prompt-file /
        compare SHORT --prompts-file /no/such/file""",
    "files": """
        show /no/such/trace.json
        show /dev/zero
        models --json /no/such/folder/x.json""",
}
PAIR_TYPED = "--target wren-base --draft wren-nano"
WORDS = {"PAIR": PAIR_TYPED, "SHORT": f"{PAIR_TYPED} --max-new-tokens 8", "RUN": f"run {PAIR_TYPED} --prompt a"}
TEXTS = {"MANY": "word " * 900, "FIT": "word " * 505, "LONG": "a" * 2**20, "HALF": "half a \udcff character"}
TEXTS |= {"RED": "\x1b[31m", "CONTROLS": "\x01\x1b\x7f", "UNKNOWN": "--no\nsuch\x1b[31m"}


def typed(line: str) -> list[str]:
    words = " ".join(WORDS.get(word, word) for word in line.replace("NOTHING", "").split(" "))
    return [TEXTS.get(argument, argument) for argument in shlex.split(words)]


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line(kind: str, run: Cli, snapshot: SnapshotAssertion) -> None:
    lines = [line.strip() for line in BAD[kind].strip().splitlines()]
    assert "\n".join(f"{line}\n    {refused(run, *typed(line))}" for line in lines) == snapshot


def test_bad_files_are_one_line(run: Cli, tmp_path: Path) -> None:
    trace = json.loads(dump_trace(hostile_trace()))
    trace["rounds"][0]["drafted"][0]["id"] = HOSTILE
    prompt, show, table = (["run", *SHORT, "--prompt-file"], ["show"], ["sweep", *SHORT, "--csv"])
    file = tmp_path / "file"
    for content, command, said in (
        (b"\xff\xfe\x00binary\x80", prompt, "is not UTF-8 text"),
        (b"\xff\xfe\x00binary\x80", show, "The trace is not valid at the file"),
        (b"\xff\xfe\x00binary\x80", table, "is not UTF-8 text"),
        (b"a" * 2**20, prompt, "1,048,576 characters"),
        (b"my,own,table\n1,2,3", table, "it has no column target"),
        (json.dumps(trace).encode(), show, "not valid at rounds.0.drafted.0.id"),
    ):
        file.write_bytes(content)
        assert said in refused(run, *command, file)
        assert file.read_bytes() == content
