"""Records and prompts, some made after public reports (`tests/fixtures/reports`): what is read, and what is refused.

Beside the inputs, `imports.yaml` has the right answers for records of one run, and `prompts.yaml` those for files of
prompts; for texts that are pasted see `test_serving_counters`.
"""

import json
from pathlib import Path

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.core.request import MAX_PROMPT_CHARACTERS, prompt_problem
from specviz.measure.sweep.prompt_files import MAX_PROBLEMS, read_prompt_file, read_prompts
from specviz.systems import import_run
from tests.support.known import known
from tests.support.records import FIXTURES, report
from tests.support.strategies import refusal

PROMPTS, IMPORTED = (
    yaml.safe_load((FIXTURES / f"reports/{name}.yaml").read_text("utf-8")) for name in ("prompts", "imports")
)


@pytest.mark.parametrize("name", IMPORTED)
def test_the_run_in_a_record(name: str) -> None:
    expected, content = IMPORTED[name], report(name).read_bytes()
    if "says" in expected:
        assert refusal(lambda: import_run(content, expected["system"])).startswith(expected["says"])
        return
    trace = import_run(content, expected["system"])
    assert [f"{round.accepted}/{len(round.drafted)}" for round in trace.rounds] == expected["rounds"]
    assert sum(round.emits for round in trace.rounds) == expected["tokens"]
    assert trace.imported
    assert any(expected.get("note", "") in note for note in trace.imported.notes)
    if "pieces" in expected:
        shown = [[token.shown for token in round.accepted_tokens] + [round.emitted.text] for round in trace.rounds]
        assert [piece for pieces in shown for piece in pieces if piece] == expected["pieces"]


@pytest.mark.parametrize("kind", PROMPTS)
def test_the_prompts_in_a_file(kind: str) -> None:
    expected = PROMPTS[kind]
    content = expected["text"].encode() if "text" in expected else report(f"40/{expected['file']}").read_bytes()
    if "says" in expected:
        assert expected["says"] in refusal(lambda: read_prompts(content))
        return
    found = read_prompts(content)
    assert [prompt.text for prompt in found.prompts] == expected["prompts"]
    assert list(found.problems) == expected.get("problems", [])
    assert list(found.notes) == expected.get("notes", [])
    assert [prompt.workload for prompt in found.prompts] == expected.get("kinds", ["own"] * len(found.prompts))


def test_each_prompts_file_of_the_reports_has_its_answer() -> None:
    answered = {expected["file"] for expected in PROMPTS.values() if "file" in expected}
    assert answered == {file.name for file in report("40/x").parent.iterdir()}


USER = {"role": "user", "content": "Hello\nyou"}


def conversation(*messages: object, **more: object) -> bytes:
    return json.dumps({"messages": messages, **more}).encode()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"prompt": ', "it is not JSON"),
        (b"[" * 20_000, "it is not JSON"),
        (b'{"prompt": " "}', "the prompt is empty"),
        (b'{"prompt": "good"}', "the same name, 'line-2'"),
        (b'{"prompt": "' + b"a" * 20_001 + b'"}', "too long"),
        (conversation(*[USER] * 65), 'its "messages" cannot be used'),
        (conversation({**USER, "tool": 1}), 'its "messages" cannot be used'),
        (conversation({"role": "a\nb", "content": "x"}), 'its "role" cannot be used'),
        (conversation({"role": "user", "content": ["x"]}), 'its "content" cannot be used'),
        (conversation({"role": "user", "content": "x" * 20_001}), "too long"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_the_others_are_used(line: bytes, says: str) -> None:
    first = b'{"prompt": "good", "name": "line-2"}'
    found = read_prompts(first + b"\n" + line + b'\n{"prompt": "last"}')
    assert [prompt.name for prompt in found.prompts] == ["line-2", "line-3"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("Line 2 is left out: ")
    assert says in found.problems[0]


@pytest.mark.parametrize("form", ["lines", "an array"])
@pytest.mark.parametrize(("length", "count", "says"), [(20, 200, "at most 200"), (15_000, 66, "Only the first 1 MB")])
def test_of_a_large_file_the_first_prompts_are_read(form: str, length: int, count: int, says: str) -> None:
    lines = [json.dumps({"prompt": "x" * length, "id": number}) for number in range(220)]
    joined = ",\n".join(lines)
    found = read_prompts(("\n".join(lines) if form == "lines" else f"[\n{joined}\n]").encode())
    assert len(found.prompts) == count
    assert says in found.problems[-1]


def test_prompts_and_problems_are_limited_and_a_file_is_read_from_disk(tmp_path: Path) -> None:
    found = read_prompts(b"Once upon a time\n" + b"\0\n" * 1_000)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "Line 22 and those after it are not read: 20 lines cannot be used."
    with pytest.raises(InputError, match="cannot be read"):
        read_prompt_file(tmp_path)
    (tmp_path / "large.txt").write_bytes(b"a" * 10_000_000)
    with pytest.raises(InputError, match="larger than 4 MB"):
        read_prompt_file(tmp_path / "large.txt")
    for ending in ("\n", "\r\n", "\r"):
        (tmp_path / "some.txt").write_text(ending.join(["hello", " \t", "  def f(x):", "", ""]), newline="")
        found = read_prompt_file(tmp_path / "some.txt")
        assert [(each.name, each.text) for each in found.prompts] == [("line-1", "hello"), ("line-3", "  def f(x):")]


def test_a_line_may_be_a_conversation() -> None:
    [prompt] = read_prompts(conversation({"role": "system", "content": "Be brief."}, USER, name="talk")).prompts
    assert (prompt.name, prompt.workload) == ("talk", "own")
    assert prompt.messages == (("system", "Be brief."), ("user", "Hello\nyou"))
    assert prompt.text == "system: Be brief.\nuser: Hello\nyou"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((text, None) for text in ("Once upon a time", "a\x00b", "{", "日本", " x ", "x" * MAX_PROMPT_CHARACTERS)),
        (" \n\t\u00a0", "empty"),
        ("\x00\x01\x1b", "control characters"),
        ("\u200b\u202e \ufeff", "control characters"),
        ("once \ud83d upon", "half a character"),
        ("a" * 2**20, "1,048,576 characters, and at most 20,000"),
    ],
)
def test_a_prompt_that_cannot_be_used_gets_one_sentence(text: str, says: str | None) -> None:
    problem = prompt_problem(text)
    assert problem is None if says is None else says in known(problem)
    assert problem is None or (problem.endswith(".") and "\n" not in problem)
