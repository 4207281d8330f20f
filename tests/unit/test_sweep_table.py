"""A sweep's CSV and a visitor's prompts: what is read, and one sentence for what cannot be used."""

import json
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.request import MAX_PROMPT_CHARACTERS, prompt_problem
from specviz.data.prompts.workloads import CHAT_WORKLOADS
from specviz.measure.sweep.prompt_files import MAX_PROBLEMS, MAX_PROMPTS, prompts_in, read_prompt_file, read_prompts
from specviz.measure.sweep.rows import UPLOAD, dump_frame, frame_of, parse_rows, read_frame
from tests.support.fake_rows import a_row
from tests.support.known import known

ROWS = [a_row(), a_row(preset='a "quoted"\nname, with <b>', draft_dtype=None, identical=None, top_k=5, top_p=0.9)]
RECORDED = Path(__file__).parents[2] / "assets" / "traces" / "sweep.csv"


def test_rows_and_the_recorded_sweep_are_written_as_they_were_read() -> None:
    content = dump_frame(frame_of(ROWS))
    for saved in (content, "\ufeff" + content, content.replace("\r\n", "\n")):  # the second as a spreadsheet saves it
        assert read_frame(saved.encode(), "x.csv").equals(frame_of(ROWS))
    content = RECORDED.read_bytes().decode()
    rows = frame_of(parse_rows(content, RECORDED.name))  # it may have more rows than an upload
    assert rows["workload"].nunique() == 8
    assert set(rows["constrained"]) == {True, False}
    assert set(rows["draft_schedule"]) == {"fixed", "heuristic", "confidence"}
    columns = content.splitlines()[0].split(",")  # it may be older than the newest setting
    assert dump_frame(rows[columns]) == content


def test_an_upload_has_so_many_rows() -> None:
    content = dump_frame(frame_of([a_row(seed=number) for number in range(UPLOAD.rows + 1)])).encode()
    assert len(read_frame(content[: content.rindex(b"\n", 0, -1) + 1], "x.csv")) == UPLOAD.rows
    with pytest.raises(InputError, match="2,000"):
        read_frame(content, "x.csv")


def taken(content: bytes) -> list[tuple[str, str, str]]:
    return [(prompt.workload, prompt.name, prompt.text) for prompt in read_prompts(content).prompts]


def test_lines_are_prompts_whatever_ends_them() -> None:
    """What else a file of prompts may be: `test_public_reports.py`."""
    expected = [("own", "line-1", "Once upon a time"), ("own", "line-3", "  def f(x):")]
    for ending in (b"\n", b"\r\n", b"\r"):
        for mark in (b"", b"\xef\xbb\xbf"):
            assert taken(mark + ending.join([b"Once upon a time", b" \t", b"  def f(x):", b"", b""])) == expected


USER = {"role": "user", "content": "Hello\nyou"}


def conversation(*messages: object, **more: object) -> bytes:
    return json.dumps({"messages": messages, **more}).encode()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"prompt": ', "it is not JSON"),
        (b"[" * 20_000, "it is not JSON"),
        (b'{"prompt": "a", "workload": "' + b"x" * 41 + b'"}', 'its "workload" cannot be used'),
        (b'{"prompt": " "}', "the prompt is empty"),
        (b'{"prompt": "good"}', "the same name, 'line-2'"),
        (b'{"prompt": "' + b"a" * 20_001 + b'"}', "too long"),
        (json.dumps({"messages": "hello"}).encode(), 'its "messages" cannot be used'),
        (conversation(*[USER] * 65), 'its "messages" cannot be used'),
        (conversation({"role": "user"}), 'its "messages" cannot be used'),
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


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a" * 10_000_000, "larger than 4 MB"),
        (b"\x00\x01\x02", "Line 1 is left out: the prompt is empty, or has control characters only"),
    ],
    ids=["large", "no prompt"],
)
def test_a_file_without_a_prompt_is_one_sentence(content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_prompts(content)


def test_prompts_and_problems_are_limited() -> None:
    found = read_prompts(b"\n".join(b"prompt %d" % number for number in range(MAX_PROMPTS + 50)))
    assert len(found.prompts) == MAX_PROMPTS
    assert found.problems == (f"Line {MAX_PROMPTS + 1} and those after it are left out: at most 200 prompts are used.",)
    found = read_prompts(b"Once upon a time\n" + b"\0\n" * 1_000)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "Line 22 and those after it are not read: 20 lines cannot be used."


def test_a_line_may_be_a_conversation() -> None:
    [prompt] = read_prompts(conversation({"role": "system", "content": "Be brief."}, USER, name="talk")).prompts
    assert (prompt.name, prompt.workload) == ("talk", "own")
    assert prompt.messages == (("system", "Be brief."), ("user", "Hello\nyou"))
    assert prompt.text == "system: Be brief.\nuser: Hello\nyou"


def test_a_file_of_prompts_is_read_and_a_folder_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_prompt_file(tmp_path)
    (tmp_path / "some.txt").write_text("hello")
    assert read_prompt_file(tmp_path / "some.txt").prompts[0].text == "hello"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Once upon a time", None),
        ("One paragraph\nin four lines\nis one\nprompt", None),
        ("def f():\n    return 1\ndef g():\n    return 2\nf()\ng()", None),
        ("A title\n\nA text\nof several\nlines\nand more", None),
        ('{"name": "Lily", "age": 7}', None),
        ("\n".join(f"prompt {number}" for number in range(7)) + "\n\n", 7),
        ('{"prompt": "a"}', 1),
        ("Once upon a time \n", None),
        ('\n{"prompt": "a"}\n\n{"messages": []}\n', 2),
        ('[{"prompt": "a"},\n {"prompt": "b"}]', 2),
        ("name,prompt\none,Once upon\ntwo,a time", 2),
        ('[{"role": "user", "content": "a"}]\n' * 2, 2),
        ("[" * 20_000, None),
        ("", None),
    ],
)
def test_a_text_that_looks_like_a_list_of_prompts_is_noticed(text: str, count: int | None) -> None:
    assert prompts_in(text) == count


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


def test_the_prompts_for_a_chat_model_are_ten_of_each_kind() -> None:
    assert {len(kind.all_prompts) for kind in CHAT_WORKLOADS} == {10}
    assert len({prompt.text for kind in CHAT_WORKLOADS for prompt in kind.all_prompts}) == 70
