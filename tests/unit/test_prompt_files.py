"""Prompts from a visitor's file: what is used, and one sentence for each line that is not."""

import json
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.measure.sweep.prompt_files import MAX_PROBLEMS, MAX_PROMPTS, prompts_in, read_prompt_file, read_prompts


def taken(content: bytes) -> list[tuple[str, str, str]]:
    return [(prompt.workload, prompt.name, prompt.text) for prompt in read_prompts(content).prompts]


def test_every_line_is_a_prompt_whatever_ends_it() -> None:
    expected = [("own", "line-1", "Once upon a time"), ("own", "line-3", "  def f(x):")]
    for ending in (b"\n", b"\r\n", b"\r"):
        for mark in (b"", b"\xef\xbb\xbf"):
            assert taken(mark + ending.join([b"Once upon a time", b" \t", b"  def f(x):", b"", b""])) == expected


def test_json_lines_may_name_their_prompt_and_its_workload() -> None:
    lines = [
        {"prompt": "two\nlines \u2028 of {text}", "name": "mine", "workload": "mail"},
        {"prompt": "another"},
    ]
    content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    assert taken(content) == [("mail", "mine", "two\nlines \u2028 of {text}"), ("own", "line-2", "another")]


def test_a_line_that_only_begins_like_json_is_a_prompt() -> None:
    assert taken(b'{"name": "Lily", "age":\nfoo') == [
        ("own", "line-1", '{"name": "Lily", "age":'), ("own", "line-2", "foo"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"prompt": ', "it is not JSON"),
        (b"[" * 20_000, "it is not JSON"),
        (b"[1]", 'it has no "prompt"'),
        (b'{"prompt": 7}', 'it has no "prompt"'),
        (b'{"prompt": "a", "grammar": "x"}', "'grammar', but a line can only have"),
        (b'{"prompt": "a", "name": 7}', '"name" is not a text'),
        (b'{"prompt": "a", "name": "a\\u0007b"}', '"name" is not a text'),
        (b'{"prompt": "a", "workload": "' + b"x" * 41 + b'"}', '"workload" is not a text'),
        (b'{"prompt": " "}', "the prompt is empty"),
        (b'{"prompt": "a \\ud800"}', "half a character"),
        (b'{"prompt": "good"}', "the same name, 'line-2'"),
        (b'{"prompt": "' + b"a" * 20_001 + b'"}', "too long"),
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
        (b"", "holds no prompt"),
        (b"\n \r\n\t", "holds no prompt"),
        (b"\xff\xfeh\x00i\x00", "not UTF-8 text"),
        (bytes(range(256)), "not UTF-8 text"),
        (b"a" * 10_000_000, "larger than 1 MB"),
        (b"\x00\x01\x02", "Line 1 is left out: the prompt contains only control characters"),
    ],
    ids=["nothing", "blank", "utf-16", "binary", "10 MB", "controls"],
)
def test_a_file_without_a_prompt_is_one_sentence(content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_prompts(content)


def test_the_number_of_prompts_is_limited() -> None:
    found = read_prompts(b"\n".join(b"prompt %d" % number for number in range(MAX_PROMPTS + 50)))
    assert len(found.prompts) == MAX_PROMPTS
    assert found.problems == (f"Line {MAX_PROMPTS + 1} and those after it are left out: at most 200 prompts are used.",)


def test_a_file_that_cannot_be_read_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_prompt_file(tmp_path)
    (tmp_path / "some.txt").write_text("hello")
    assert read_prompt_file(tmp_path / "some.txt").prompts[0].text == "hello"


def test_a_file_of_unusable_lines_gets_a_few_sentences() -> None:
    found = read_prompts(b"Once upon a time\n" + b"\0\n" * 1_000)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == "Line 22 and those after it are not read: 20 lines cannot be used."


def conversation(*messages: object, **more: object) -> bytes:
    return json.dumps({"messages": messages, **more}).encode()


USER = {"role": "user", "content": "Hello\nyou"}


def test_a_json_line_may_be_a_conversation() -> None:
    system = {"role": "system", "content": "Be brief."}
    [prompt] = read_prompts(conversation(system, USER, name="talk")).prompts
    assert (prompt.name, prompt.workload) == ("talk", "own")
    assert prompt.messages == (("system", "Be brief."), ("user", "Hello\nyou"))
    assert prompt.text == "system: Be brief.\nuser: Hello\nyou"
    [other] = read_prompts(conversation(USER)).prompts
    assert other.text_hash != prompt.text_hash


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (conversation(USER, prompt="a"), "only one of them"),
        (conversation(), "1 to 64 messages"),
        (json.dumps({"messages": "hello"}).encode(), "1 to 64 messages"),
        (json.dumps({"messages": None}).encode(), "1 to 64 messages"),
        (conversation(*[USER] * 65), "1 to 64 messages"),
        (conversation("hello"), "other keys than"),
        (conversation({"role": "user"}), "other keys than"),
        (conversation({**USER, "tool": 1}), "other keys than"),
        (conversation({"role": "a\nb", "content": "x"}), '"role" is not a text'),
        (conversation({"role": "user", "content": ["x"]}), "not a text"),
        (conversation({"role": "user", "content": "x" * 20_001}), "too long"),
    ],
)
def test_a_bad_conversation_is_one_sentence(line: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_prompts(line)


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
        ('\n{"prompt": "a"}\n\n{"messages": []}\n', 2),
        ("[" * 20_000, None),
        ("", None),
    ],
)
def test_a_text_that_looks_like_a_list_of_prompts_is_noticed(text: str, count: int | None) -> None:
    assert prompts_in(text) == count
