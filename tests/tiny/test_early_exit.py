"""The target's first layers draft for it, in its own cache: nothing is copied, nothing is left behind."""

import pytest

from specviz import DecodeSettings, InputError, speculative_decode
from specviz.core.steps import result_of
from specviz.core.trace import dump_trace, parse_trace
from specviz.decoding import make_drafter
from specviz.decoding.drafters.early_exit import EarlyExitDrafter, early_exit
from specviz.models.forward import LightForward
from specviz.models.loaded_model import LoadedModel
from tests.support.tiny_models import tiny_model

PROMPT = [1, 2, 3]
TARGET = tiny_model(seed=1, layers=3, name="target")
EXIT = early_exit("early-exit:1", 1, TARGET)


# ---- the same as a model of its own


def test_the_first_layers_are_a_model_that_shares_every_weight() -> None:
    assert isinstance(TARGET.forward, LightForward)
    assert isinstance(EXIT.forward, LightForward)
    first, whole = EXIT.forward.llama, TARGET.forward.llama
    assert first.layers == whole.layers[:1]
    assert first.output is whole.output
    assert first.embedding is whole.embedding
    assert EXIT.info.parameters == tiny_model(seed=0, layers=1).info.parameters
    assert EXIT.bytes == 0
    assert EXIT.cache_bytes_per_token * 3 == TARGET.cache_bytes_per_token


# ---- what it says and what it refuses


def test_a_trace_says_that_it_exited_early() -> None:
    trace = speculative_decode(TARGET, EarlyExitDrafter(EXIT), PROMPT, DecodeSettings(max_new_tokens=8))
    assert trace.drafter is not None
    assert (trace.drafter.kind, trace.drafter.name, trace.drafter.asked_as) == ("early-exit", *["early-exit:1"] * 2)
    assert trace.drafter.weights_hash == trace.target.weights_hash
    assert parse_trace(dump_trace(trace)) == trace


def test_it_guesses_along_an_output_as_it_drafts() -> None:
    settings = DecodeSettings(max_new_tokens=20, draft_length=1)
    trace = speculative_decode(TARGET, EarlyExitDrafter(EXIT), PROMPT, settings)
    guesses = result_of(EarlyExitDrafter(EXIT).guess_along(TARGET, PROMPT, trace.output.token_ids))
    assert guesses.drafter.kind == "early-exit"
    assert guesses.exact
    place = 0
    for round in trace.rounds:
        for token in round.drafted:
            assert guesses.guesses is not None
            assert guesses.guesses[place] == token.id
        place += len(round.emitted_ids)


@pytest.mark.parametrize("name", ["early-exit:", "early-exit:0", "early-exit:two", "early-exit:-1", "early-exit:1.5"])
def test_a_name_without_a_number_of_layers_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="takes a number of layers, like early-exit:2"):
        make_drafter(name, TARGET)


@pytest.mark.parametrize("layers", [3, 99])
def test_all_layers_are_no_early_exit(layers: int) -> None:
    with pytest.raises(InputError, match=f"target has 3 layers: an early exit takes 1 to 2 of them, not {layers}"):
        make_drafter(f"early-exit:{layers}", TARGET)


def test_another_models_layers_are_refused() -> None:
    with pytest.raises(InputError, match="layers of another model, so they cannot draft for stranger"):
        speculative_decode(tiny_model(seed=9, name="stranger"), EarlyExitDrafter(EXIT), PROMPT)


def test_a_target_read_by_transformers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")
    theirs: LoadedModel = tiny_model(seed=1, name="theirs")
    with pytest.raises(InputError, match="transformers' forward pass, which cannot stop at an early layer here"):
        make_drafter("early-exit:1", theirs)
