"""A run's link: what it has, and what cannot be used of one. That any run is its link: `test_parsing_properties.py`.

`test_files_of_before.py` has more values that cannot be used, on each page.
"""

from urllib.parse import urlencode

import pytest

from specviz.core.request import SHOWN, RunRequest
from specviz.data.links.page_link import Params, explain_left_out
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.prompts.workloads import DEFAULT_PRESET, OWN_TEXT, find_preset
from specviz.models.catalogue import known_names
from tests.support.known import known
from tests.support.strategies import assert_one_sentence

DEFAULT = RunRequest(DEFAULT_PRESET.text)
UNUSABLE = [("gamma", " 7"), ("gamma", ""), ("tokens", "1000000"), ("temperature", "1e999"), ("seed", "9" * 5000)]
UNUSABLE += [("target", "lookup"), ("draft", "early-exit:0"), ("draft_sampling", "beam"), ("verification", "wild")]
UNUSABLE += [("tree", "4,,1"), ("tree", "2,2"), ("prompt", "a" * 2**20), ("run", ""), ("run", "../../etc/passwd")]
UNUSABLE += [("run", "0123456789ABCDEF"), ("run", "<b>"), ("run", "first\n"), ("run", "0" * 17)]


def opened(params: Params) -> tuple[RunLink, list[str]]:
    return RunLink.read(params, context=known_names())


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_what_cannot_be_used_falls_back_with_one_line(name: str, value: str) -> None:
    found, [line] = opened({name: value})
    assert (found, name in line, len(line) < 150) == (RunLink(), True, True)
    assert_one_sentence(line)


def test_every_setting_is_written_and_a_preset_stands_for_its_own_prompt() -> None:
    link = link_of(DEFAULT, step=3)
    assert set(link) == {"preset", "target", "draft", "step", *(row.link for row in SHOWN.values())}
    written = {"preset": DEFAULT_PRESET.name, "target": "wren-base", "draft": "wren-nano", "gamma": "4", "step": "3"}
    written |= {"schedule": "fixed", "temperature": "0", "top_k": "0", "top_p": "1", "tokens": "64", "seed": "0"}
    written |= {"draft_sampling": "sample", "verification": "token", "tree": "none"}
    assert written.items() <= link.items()
    text = known(find_preset("code-1")).text
    for prompt, name, own in ((text, "preset", "code-1"), (f"{text} edited", "prompt", OWN_TEXT)):
        link = link_of(RunRequest(prompt))
        assert {"preset", "prompt"} & set(link) == {name}
        assert [getattr(opened(link)[0], field) for field in ("prompt", "preset")] == [prompt, own]


def test_what_the_controls_hold_of_a_number_above_0_is_above_0() -> None:
    asked = opened({"top_p": "0.00001", "temperature": "1e-300"})[0].fitted().request().settings
    assert (asked.top_p, asked.temperature) == (0.0001, 0.0001)


def test_an_empty_link_is_the_default_run_and_what_cannot_be_used_is_quoted_without_marks() -> None:
    same = {"prompt": DEFAULT.prompt, "preset": DEFAULT_PRESET.name}
    for nothing in ({}, {"embed": "true", "utm_source": "<script>"}, same):
        assert opened(nothing) == (RunLink(), [])
    assert RunLink().request() == DEFAULT
    linked, problems = opened({"seed": ["5"], "step": [], "top_k": "40", "gamma": "many"})
    settings = linked.request().settings
    assert (settings.seed, settings.top_k, settings.draft_length, len(problems)) == (5, 40, 4, 1)
    target, draft = opened({"target": "[win](http://x) <b>:red[*`", "draft": "a\x00\u202eb\nc"})[1]
    assert target.startswith("target=?win??http?//x???b??red???")
    assert draft.startswith("draft=a??b?c is not")


@pytest.mark.parametrize(("prompt", "fits"), [("a" * 6_000, True), ("a" * 6_001, False), ("é" * 1_001, False)])
def test_a_prompt_that_no_server_takes_in_an_address_is_left_out(prompt: str, fits: bool) -> None:
    link = link_of(RunRequest(prompt))
    assert ("prompt" in link) == fits == (explain_left_out(prompt) is None)
    assert len(urlencode(link)) < 8_000
    assert opened(link)[1] == []
