"""The links of the pages: they read back as what they were made of, and what cannot be used is one line.

`test_files_of_before.py` has more values that cannot be used, on each page.
"""

from urllib.parse import urlencode

import pytest

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.request import SHOWN, RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.links.page_link import Params, explain_left_out
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.prompts.workloads import DEFAULT_PRESET, OWN_TEXT, find_preset
from tests.support.known import known
from tests.support.strategies import assert_one_sentence

MODELS = ["wren-base", "wren-small", "wren-mini", "wren-nano", "wren-eagle", "wren-medusa"]
DEFAULT = RunRequest(DEFAULT_PRESET.text)
UNUSUAL = RunRequest(
    prompt='two lines\n& a "quote", 50 % é',
    target="wren-small",
    draft=PROMPT_LOOKUP,
    settings=DecodeSettings(max_new_tokens=200, draft_length=16, temperature=0.7, top_k=40, top_p=0.123456789012345),
)


def opened(params: Params) -> tuple[RunLink, list[str]]:
    return RunLink.read(params, context=MODELS)


def test_every_setting_is_written_and_a_preset_stands_for_its_own_prompt() -> None:
    link = link_of(DEFAULT, step=3)
    assert set(link) == {"preset", "target", "draft", "step", *(row.link for row in SHOWN.values())}
    written = {"preset": DEFAULT_PRESET.name, "target": "wren-base", "draft": "wren-nano", "gamma": "4", "step": "3"}
    written |= {"schedule": "fixed", "temperature": "0", "top_k": "0", "top_p": "1", "tokens": "64", "seed": "0"}
    written |= {"draft_sampling": "sample", "verification": "token", "tree": "none"}
    assert written.items() <= link.items()
    preset = known(find_preset("code-1"))
    link = link_of(RunRequest(preset.text))
    assert "prompt" not in link
    linked, _ = opened(link)
    assert (linked.prompt, linked.preset) == (preset.text, "code-1")
    edited = link_of(RunRequest(preset.text + " edited"))
    assert "preset" not in edited
    assert edited["prompt"] == preset.text + " edited"
    assert opened(edited)[0].preset == OWN_TEXT


def test_an_empty_link_is_the_default_run_and_a_prompt_goes_first() -> None:
    for nothing in ({}, {"embed": "true", "utm_source": "<script>"}):
        assert opened(nothing) == (RunLink(), [])
    assert RunLink().request() == DEFAULT
    linked, problems = opened({**link_of(UNUSUAL, 5), "gamma": "many"})
    settings = linked.request().settings
    assert (settings.draft_length, settings.top_k) == (4, 40)
    assert (linked.prompt, linked.draft, linked.step) == (UNUSUAL.prompt, "lookup", 5)
    assert len(problems) == 1
    assert opened({"prompt": DEFAULT.prompt, "preset": DEFAULT_PRESET.name}) == (RunLink(), [])
    assert opened({"seed": ["5"], "step": []})[0].request().settings.seed == 5
    target, draft = opened({"target": "[win](http://x) <b>:red[*`", "draft": "a\x00\u202eb\nc"})[1]
    assert target.startswith("target=?win??http?//x???b??red???")
    assert draft.startswith("draft=a??b?c is not")


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


@pytest.mark.parametrize(("prompt", "fits"), [("a" * 6_000, True), ("a" * 6_001, False), ("é" * 1_001, False)])
def test_a_prompt_that_no_server_takes_in_an_address_is_left_out(prompt: str, fits: bool) -> None:
    request = RunRequest(prompt=prompt)
    link = link_of(request)
    assert ("prompt" in link) == fits
    assert (explain_left_out(prompt) is None) == fits
    assert len(urlencode(link)) < 8_000
    read, problems = opened(link)
    assert problems == []
    assert read.request().settings == request.settings
