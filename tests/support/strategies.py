"""Values and nearly valid files for property tests, and what a refusal must look like."""

import json
import re
import tracemalloc
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st

from specviz.core.errors import InputError
from specviz.core.settings import DRAFT_SCHEDULES, SETTINGS, DecodeSettings

T = TypeVar("T")
LONGEST_SENTENCE = 1_000  # the command line prints no more; a file can have many wrong fields
PATH = re.compile(r"(^|[\s'\"(])/\w+/")

WHOLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)  # any text but half characters
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
HOSTILE_VALUES = st.sampled_from(
    [None, True, -1, 0, 1.5, 2**31, 10**40, float("nan"), float("inf"), "", "x" * 3_000, [], {}, [[]], "\ud800"]
)


def value_or_sentence(read: Callable[[], T]) -> T | None:
    """What was read; None where it was refused, in one sentence that a visitor can be shown."""
    try:
        return read()
    except InputError as refused:
        assert_one_sentence(str(refused))
        return None


def refusal(act: Callable[[], object]) -> str:
    """The sentence with which it is refused."""
    with pytest.raises(InputError) as refused:
        act()
    sentence = str(refused.value)
    assert len(sentence.splitlines()) == 1
    assert len(sentence) <= LONGEST_SENTENCE
    assert sentence.endswith((".", "?"))
    return sentence


def refusal_and_peak(read: Callable[[], object]) -> tuple[str, int]:
    """The sentence of a refusal, and how many bytes of Python's own objects it took at most."""
    tracemalloc.start()
    try:
        return refusal(read), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_one_sentence(text: str) -> None:
    """One line of bounded length that ends as a sentence does, and holds no path of this machine."""
    assert text == text.strip()
    assert len(text.splitlines()) == 1
    assert len(text) <= LONGEST_SENTENCE, text
    assert text.endswith("."), text
    assert not PATH.search(text), text
    assert "Traceback" not in text


@st.composite
def changed(draw: st.DrawFn, valid: Any) -> Any:
    """A JSON value with one to three of its parts replaced, left out or doubled."""
    made = json.loads(json.dumps(valid))
    for _ in range(draw(st.integers(1, 3))):
        _change(draw, made)
    return made


def _change(draw: st.DrawFn, node: Any) -> None:
    while True:
        places = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not places:
            return
        place = draw(st.sampled_from(places))
        inner = node[place]
        if isinstance(inner, dict | list) and inner and draw(st.integers(0, 5)):
            node = inner
            continue
        how = draw(st.sampled_from(["replace", "drop", "double"]))
        if how == "replace":
            node[place] = draw(HOSTILE_VALUES | JSON)
        elif how == "drop":
            del node[place]
        elif isinstance(node, list):
            node.append(inner)
        return


SETTINGS = st.builds(
    DecodeSettings,
    max_new_tokens=st.integers(1, 256),
    draft_length=st.integers(1, 16),
    temperature=st.floats(0, 2),
    top_k=st.none() | st.integers(1, 1_000),
    top_p=st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True),
    seed=st.integers(0, 2**53 - 1),
    stop_at_eos=st.booleans(),
    draft_schedule=st.sampled_from(DRAFT_SCHEDULES),
    draft_sampling=st.sampled_from(SETTINGS["draft_sampling"].choices),
    verification=st.sampled_from(SETTINGS["verification"].choices),
)
CELL = WHOLE.filter(bool) | st.builds(str.__add__, st.sampled_from(["=", "'=", "''+", "\t", " -", "＝", "'"]), WHOLE)
