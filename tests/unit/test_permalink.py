"""The links of the pages: they read back as what they were made of, and what cannot be used is one line.

`test_files_of_before.py` has more values that cannot be used, on each page.
"""

from urllib.parse import urlencode

import pytest

from specviz.core.request import SHOWN, RunRequest
from specviz.data.links.page_link import Params, explain_left_out
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.prompts.workloads import DEFAULT_PRESET, OWN_TEXT, find_preset
from tests.support.known import known
from tests.support.strategies import assert_one_sentence

MODELS = ["wren-base", "wren-small", "wren-mini", "wren-nano", "wren-eagle", "wren-medusa"]
DEFAULT = RunRequest(DEFAULT_PRESET.text)


def opened(params: Params) -> tuple[RunLink, list[str]]:
    return RunLink.read(params, context=MODELS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("gamma", value) for value in (" 7", "")),
        *(("tokens", "1000000"), ("temperature", "1e999"), ("seed", "9" * 5000), ("target", "lookup")),
        *(("draft", "early-exit:0"), ("draft_sampling", "beam"), ("verification", "wild")),
        *(("tree", value) for value in ("4,,1", "2,2")),
        ("prompt", "a" * 2**20),
        *(("run", value) for value in ("", "../../etc/passwd", "0123456789ABCDEF", "<b>", "first\n", "0" * 17)),
    ],
)
def test_what_cannot_be_used_falls_back_with_one_line(name: str, value: str) -> None:
    found, [line] = opened({name: value})
    assert found == RunLink()
    assert name in line
    assert_one_sentence(line)
    assert len(line) < 150


def test_every_setting_is_written_and_a_preset_stands_for_its_own_prompt() -> None:
    """That any run is its link: `test_parsing_properties.py`."""
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
        linked, _ = opened(link)
        assert (linked.prompt, linked.preset) == (prompt, own)


def test_an_empty_link_is_the_default_run_and_what_cannot_be_used_is_quoted_without_marks() -> None:
    for nothing in ({}, {"embed": "true", "utm_source": "<script>"}):
        assert opened(nothing) == (RunLink(), [])
    assert RunLink().request() == DEFAULT
    assert opened({"prompt": DEFAULT.prompt, "preset": DEFAULT_PRESET.name}) == (RunLink(), [])
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
