"""Files of prompts, some made after public reports: what is read of each, and what is refused.

`tests/fixtures/reports/prompts.yaml` has texts and names of files, and the right answers.
"""

import json
from pathlib import Path

import pytest
import yaml

from specviz.core.request import MAX_PROMPT_CHARACTERS, prompt_problem
from specviz.measure.sweep.plan import SweepPrompt
from specviz.measure.sweep.prompt_files import MAX_PROBLEMS, read_prompt_file, read_prompts
from tests.support.known import known
from tests.support.records import FIXTURES, report
from tests.support.strategies import refusal

PROMPTS = yaml.safe_load((FIXTURES / "reports/prompts.yaml").read_text("utf-8"))


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
)
def test_a_bad_line_is_named_and_the_others_are_used(line: bytes, says: str) -> None:
    found = read_prompts(b'{"prompt": "good", "name": "line-2"}\n' + line + b'\n{"prompt": "last"}')
    assert [prompt.name for prompt in found.prompts] == ["line-2", "line-3"]
    [problem] = found.problems
    assert problem.startswith("Line 2 is left out: ")
    assert says in problem


@pytest.mark.parametrize("form", ["{}", "[\n{}\n]"])
@pytest.mark.parametrize(("length", "count", "says"), [(20, 200, "at most 200"), (15_000, 66, "Only the first 1 MB")])
def test_of_a_large_file_the_first_prompts_are_read(form: str, length: int, count: int, says: str) -> None:
    lines = [json.dumps({"prompt": "x" * length, "id": number}) for number in range(220)]
    found = read_prompts(form.replace("{}", (",\n" if "[" in form else "\n").join(lines)).encode())
    assert len(found.prompts) == count
    assert says in found.problems[-1]


def test_problems_are_limited_and_a_file_is_read_from_disk(tmp_path: Path) -> None:
    found = read_prompts(b"Once upon a time\n" + b"\0\n" * 1_000)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "Line 22 and those after it are not read: 20 lines cannot be used."
    assert "cannot be read" in refusal(lambda: read_prompt_file(tmp_path))
    file = tmp_path / "some.txt"
    file.write_bytes(b"a" * 10_000_000)
    assert "larger than 4 MB" in refusal(lambda: read_prompt_file(file))
    for ending in ("\n", "\r\n", "\r"):
        file.write_text(ending.join(["hello", " \t", "  def f(x):", "", ""]), newline="")
        found = read_prompt_file(file)
        assert [(each.name, each.text) for each in found.prompts] == [("line-1", "hello"), ("line-3", "  def f(x):")]


def test_a_line_may_be_a_conversation() -> None:
    content = conversation({"role": "system", "content": "Be brief."}, USER, name="talk")
    messages = (("system", "Be brief."), ("user", "Hello\nyou"))
    talk = SweepPrompt("own", "talk", "system: Be brief.\nuser: Hello\nyou", messages=messages)
    assert read_prompts(content).prompts == (talk,)


USABLE = ("Once upon a time", "a\x00b", "{", "日本", " x ", "x" * MAX_PROMPT_CHARACTERS)
UNUSABLE = {
    " \n\t\u00a0": "empty",
    "\x00\x01\x1b": "control characters",
    "\u200b\u202e \ufeff": "control characters",
    "once \ud83d upon": "half a character",
    "a" * 2**20: "1,048,576 characters, and at most 20,000",
}


def test_a_prompt_that_cannot_be_used_gets_one_sentence() -> None:
    assert {prompt_problem(text) for text in USABLE} == {None}
    for text, says in UNUSABLE.items():
        problem = known(prompt_problem(text))
        assert says in problem
        assert problem.endswith(".")
        assert "\n" not in problem
