"""The head on SmolLM2, with that model's true file; where nobody has fetched it, this is skipped and says so."""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import pytest

from specviz import DecodeSettings, InputError, autoregressive_decode, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.data.prompts.workloads import CHAT_WORKLOADS
from specviz.decoding import make_drafter
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.loaded_model import LoadedModel, chat_ids
from specviz.models.packaged import SHA256

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "specviz" / "gguf"
FILE = FOLDER / f"{SMOLLM2}.gguf"
PROMPTS = {prompt.name: prompt.text for kind in CHAT_WORKLOADS for prompt in kind.all_prompts}


@pytest.fixture(scope="module")
def smollm2() -> Iterator[LoadedModel]:
    if not FILE.is_file() or sha256(FILE.read_bytes()).hexdigest() != SHA256:
        pytest.skip(f"{FILE.name} is not there: make smollm2 fetches it")
    with patch.dict(os.environ, {"SPECVIZ_GGUF": str(FOLDER)}):
        yield load_model(SMOLLM2)


@pytest.mark.parametrize("name", ["change-1", "stories-1"])
def test_the_text_is_the_targets_own_and_the_head_is_right_now_and_then(smollm2: LoadedModel, name: str) -> None:
    prompt, settings = chat_ids(smollm2, [("user", PROMPTS[name])]), DecodeSettings(max_new_tokens=32)
    written = autoregressive_decode(smollm2, prompt, settings).output.token_ids
    for draft in ("smol-eagle", "lookup-smol-eagle"):
        trace = speculative_decode(smollm2, make_drafter(draft, smollm2), prompt, settings)
        assert trace.output.token_ids == written
        assert trace.drafter is not None
        assert (trace.drafter.name, count(trace.rounds).accepted > 2) == (draft, True)


def test_it_drafts_for_no_other_model() -> None:
    with pytest.raises(InputError, match=r"^smol-eagle drafts from the hidden states of smollm2, .* wren-nano\.$"):
        make_drafter("smol-eagle", load_model("wren-nano"))
