"""The true file of a chat model that people know. It is fetched once, and kept outside of the checkout."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import DecodeSettings, InputError, load_model
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.metrics import count
from specviz.data.prompts.workloads import CHAT_WORKLOADS
from specviz.decoding import autoregressive_decode, make_drafter, speculative_decode
from specviz.decoding.drafters.choose import load_draft
from specviz.game.game import GamePlan, GameRequest
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.loaded_model import LoadedModel
from specviz.models.packaged import fetch_smollm2
from specviz.service.handlers.play import play_steps
from specviz.service.protocol import JobItem, Play
from tests.support.fake_workshop import workshop_with
from tests.support.tiny_models import greedy_of_transformers

pytestmark = pytest.mark.full
MOST_SECONDS = 300


@pytest.fixture(scope="module")
def smollm2() -> Iterator[LoadedModel]:
    end = time.monotonic() + MOST_SECONDS
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECVIZ_GGUF", str(Path("~/.cache/specviz/gguf").expanduser()))
        try:
            for _ in fetch_smollm2():
                if time.monotonic() > end:
                    pytest.skip("smollm2 comes too slowly here")
        except InputError as error:
            pytest.skip(f"smollm2 cannot be fetched here: {error}")
        yield load_model(SMOLLM2)


def test_it_answers_a_chat_as_transformers_does_with_the_same_weights(smollm2: LoadedModel) -> None:
    settings = DecodeSettings(max_new_tokens=24, prompt_format="chat")
    run = autoregressive_decode(smollm2, "[system]\nAnswer in one sentence.\n[user]\nWhat is a tree?", settings)
    assert smollm2.tokens.decode(run.prompt.token_ids) == (
        "<|im_start|>system\nAnswer in one sentence.<|im_end|>\n<|im_start|>user\nWhat is a tree?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    written = run.output.token_ids
    assert written == greedy_of_transformers(smollm2, run.prompt.token_ids, 24)[: len(written)]


@pytest.mark.parametrize("draft", [PROMPT_LOOKUP, "smol-eagle", "lookup-smol-eagle"])
def test_whoever_drafts_it_writes_its_own_text(draft: str, smollm2: LoadedModel) -> None:
    settings, accepted = DecodeSettings(max_new_tokens=32, prompt_format="chat"), 0
    for workload in CHAT_WORKLOADS:
        prompt = workload.prompts[0].text
        run = speculative_decode(smollm2, make_drafter(draft, smollm2), prompt, settings)
        assert run.output == autoregressive_decode(smollm2, prompt, settings).output
        accepted += count(run.rounds).accepted
    assert accepted > 2


def test_a_person_writes_its_answer_beside_the_head_that_was_trained_on_it(smollm2: LoadedModel) -> None:
    plan = GamePlan.chosen(0, "facts", "type", SMOLLM2)
    request = plan.request("What is the capital of France?")
    own = autoregressive_decode(smollm2, request.prompt, DecodeSettings(8, prompt_format="chat")).output
    workshop = workshop_with(smollm2, load_draft(plan.rival, smollm2))
    play = Play(1, request, GameRequest("guess", guess=own.text))
    (turn,) = [event.item for event in play_steps(play, workshop) if isinstance(event, JobItem)]
    assert turn.trace.rounds[0].accepted == len(own.token_ids) - (own.stopped_by == "eos")  # nobody types the end
    assert turn.text.startswith(request.prompt + own.text)
    assert turn.rivals[plan.rival].drafted
