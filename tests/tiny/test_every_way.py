"""What every way to draft must keep: the target's own greedy text, the seed, the end of a text, the context window.

The greedy text is compared with the one that transformers' `generate` writes, id for id.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise, product
from typing import Any

import pytest
import torch

from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter, autoregressive_decode, speculative_decode
from specviz.core.metrics import count
from specviz.core.replay import ends_of, replay
from specviz.core.steps import result_of
from specviz.core.trace import Trace, dump_trace, parse_trace
from specviz.decoding import Drafter, TranslatedDrafter, fit_drafter, make_drafter
from specviz.models import cached_model
from specviz.models.cached_model import CHUNK
from specviz.models.loaded_model import LoadedModel
from tests.support.architectures import DECODABLE, KNOWN, family_model, random_model
from tests.support.grids import grid
from tests.support.joint import OddAndNew
from tests.support.known import known
from tests.support.tiny_heads import FEW_WORDS
from tests.support.tiny_models import ending, greedy_of_transformers, tiny_model, with_tokenizer, word_tokenizer
from tests.support.tokenizers import KINDS, PAIRS, TEXTS
from tests.support.tokenizers import random_model as speaker
from tests.support.ways import BEHIND, CHAINS_ONLY, DRAFT, NO_GUESSES, TARGET, pair_of
from tests.support.ways import DRAFTERS as KINDS_OF_DRAFTS

DRAFTERS = KINDS_OF_DRAFTS[:-1]  # the last one has another target
DEPTHS = {"1,1,1": 3, "3": 1, "4,2,1": 3, "2,1,1,1,1,1,1": 7, "dynamic:1": 1, "dynamic:12": 4}
CHAINS: dict[str, dict[str, object]] = {f"γ={length}": {"draft_length": length} for length in (1, 3, 16)}
CHAINS |= {schedule: {"draft_length": 4, "draft_schedule": schedule} for schedule in ("heuristic", "confidence")}
TREES: dict[str, dict[str, object]] = {tree: {"draft_length": depth, "tree": tree} for tree, depth in DEPTHS.items()}
SHAPES = CHAINS | TREES
CHAIN, BEST, GROWN = ["γ=3"], ["γ=3", "dynamic:12"], ["γ=3", "4,2,1"]
QUICK = {"early exit": ["confidence", "dynamic:12"], "eagle": BEST, FEW_WORDS: GROWN, "medusa": GROWN}
QUICK |= dict.fromkeys(CHAINS_ONLY, CHAIN)  # with the model all shapes are tried
PROMPTS = ([1, 2, 3], [4], [0, 2, 5, 0, 2, 5], [(5 * i) % 7 for i in range(2 * CHUNK + 9)])  # the last: three passes
CELLS = [(drafter, shape) for drafter in DRAFTERS for shape in SHAPES if drafter not in CHAINS_ONLY or shape in CHAINS]
SMALL = [(drafter, shape) for drafter, shape in CELLS if shape in QUICK.get(drafter, SHAPES)]


@cache
def expected(prompt: tuple[int, ...], tokens: int = 24) -> list[int]:
    return greedy_of_transformers(TARGET, prompt, tokens)


def shaped(shape: str, **more: object) -> DecodeSettings:
    return DecodeSettings(**({"max_new_tokens": 24} | SHAPES[shape] | more))  # type: ignore[arg-type]


def decoded(drafter: str, shape: str, prompt: list[int] = PROMPTS[0], record: bool = True, **more: object) -> Trace:
    return speculative_decode(TARGET, pair_of(drafter)[1], prompt, shaped(shape, **more), record=record)


Case = tuple[LoadedModel, Drafter, list[int], DecodeSettings]


def in_every_shape(drafter: str, shape: str) -> Iterator[Case]:
    for prompt in PROMPTS:
        yield *pair_of(drafter), prompt, shaped(shape)


def of_a_family(case: str) -> Iterator[Case]:
    """Of the light forward pass."""
    target, draft = family_model(case), ModelDrafter(tiny_model(seed=1, sharpness=1.0))
    for drafter, shape in ((draft, "γ=3"), (make_drafter("early-exit:2", target), "4,2,1"), (draft, "dynamic:12")):
        yield target, drafter, [1, 2, 3, 4, 1, 2], shaped(shape)


def read_by_transformers(kind: str) -> Iterator[Case]:
    """The long prompt in passes of four tokens: a sliding window is six."""
    target, draft = random_model(kind), ModelDrafter(random_model(kind, noise=0.15))
    for prompt in ([4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3]):
        for drafter, length in ((draft, 5), (PromptLookupDrafter(), 2)):
            yield target, drafter, prompt, DecodeSettings(max_new_tokens=40, draft_length=length)


def with_its_own_tokenizer(kind: str, other: str) -> Iterator[Case]:
    big, small = speaker(kind), speaker(other, seed=2)
    drafter = fit_drafter(big, small, DecodeSettings())
    assert isinstance(drafter, TranslatedDrafter)
    for text, gamma in zip(TEXTS, (1, 3, 4, 16), strict=True):
        yield big, drafter, list(big.tokenizer(text)["input_ids"]), DecodeSettings(12, gamma, stop_at_eos=False)


def with_other_tokens(target: int, draft: int) -> Iterator[Case]:
    """Vocabularies of these sizes; the tokens of the smaller one are the first of the other."""
    made = [tiny_model(seed=1, vocabulary=size, layers=layers) for size, layers in ((target, 2), (draft, 1))]
    for shape in ("γ=3", "4,2,1"):
        yield made[0], ModelDrafter(made[1]), [1, 2, 1], shaped(shape, max_new_tokens=40)


def with_padding(target: int, draft: int) -> Iterator[Case]:
    """More rows in an embedding than its seven tokens. Without a mask, padding would be written."""
    made = [padded(seed, size) for seed, size in ((1, target), (2, draft))]
    assert target == 7 or int(made[0].model(torch.tensor([[1, 2, 3]])).logits[0, -1].argmax()) >= 7
    for temperature in (0.0, 1.0):
        yield made[0], ModelDrafter(made[1]), [1, 2, 3], shaped("γ=3", max_new_tokens=40, temperature=temperature)


def padded(seed: int, vocabulary: int) -> LoadedModel:
    loaded = tiny_model(seed=seed, vocabulary=vocabulary)
    with torch.no_grad():
        loaded.model.lm_head.weight[7:] = 50 * loaded.model.lm_head.weight[:1].abs()
        loaded.model.lm_head.weight[8:] *= -1  # with either sign of a hidden state, some padding wins
    return with_tokenizer(loaded, word_tokenizer(7))


ROUND = list(zip(KINDS, [*KINDS[1:], KINDS[0]], strict=True))  # each kind of tokenizer as target and as draft
ROWS: dict[Callable[..., Iterator[Case]], tuple[list[Any], list[Any]]] = {  # all, and those of the quick tests
    in_every_shape: (CELLS, SMALL),
    of_a_family: ([*KNOWN], [*KNOWN]),
    read_by_transformers: ([*DECODABLE], ["llama", "gpt2", "gemma3_text"]),
    with_its_own_tokenizer: (PAIRS, ROUND),
    with_other_tokens: ([(9, 5), (5, 9)], [(9, 5), (5, 9)]),
    with_padding: ([(7, 12), (12, 7), (12, 9)], [(7, 12), (12, 7), (12, 9)]),
}


@pytest.mark.parametrize(
    ("way", "row"),
    [
        pytest.param(way, row, marks=() if row in quick else pytest.mark.full, id=f"{way.__name__}-{row}")
        for way, (rows, quick) in ROWS.items()
        for row in rows
    ],
)
def test_greedy_text_is_the_targets_own(way: Callable[..., Iterator[Case]], row: Any, monkeypatch: Any) -> None:
    fates, written = Counter[str](), set[int]()
    monkeypatch.setattr(cached_model, "CHUNK", 4 if way is read_by_transformers else CHUNK)
    for target, drafter, prompt, settings in way(*(row if isinstance(row, tuple) else (row,))):
        trace = speculative_decode(target, drafter, prompt, settings)
        assert parse_trace(dump_trace(trace)) == trace
        ids = [each.id for round in trace.rounds for token in round.drafted for each in (token, *token.candidates)]
        assert max(ids + trace.output.token_ids) < len(target.tokens), "padding is neither drafted nor written"
        if settings.greedy:
            own = greedy_of_transformers(target, prompt, settings.max_new_tokens) if way is not with_padding else None
            plain = autoregressive_decode(target, prompt, settings).output.token_ids
            assert trace.output.token_ids == plain == (own or plain)
        if settings.draft_schedule != "heuristic":
            assert max(max(round.depths, default=-1) + 1 for round in trace.rounds) <= settings.draft_length
        fates.update(token.status for round in trace.rounds for token in round.drafted)
        written |= {*trace.output.token_ids}
    shows = way is read_by_transformers or (way is in_every_shape and row[1] == "γ=3")
    assert not shows or min(len(written), fates["accepted"], fates["rejected"]) >= 3, "a text of one token shows little"
    assert way is not of_a_family or fates["accepted"] > 8, "a draft that always fails shows little"


SEEDED = [("model", "γ=3"), ("lookup", "γ=3"), ("eagle", "confidence"), ("medusa", "γ=3"), ("early exit", "dynamic:12")]


@pytest.mark.parametrize(("drafter", "shape"), [*SEEDED, ("model", "4,2,1"), *((way, "γ=3") for way in BEHIND)])
def test_the_seed_decides_all_draws_and_recording_changes_none(drafter: str, shape: str) -> None:
    pair_of(drafter)  # making the models draws from the global generator, and only decoding is looked at here
    before = torch.random.get_rng_state()
    one, same, other = (decoded(drafter, shape, temperature=1.0, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(before, torch.random.get_rng_state()), "the global generator was touched"
    made, again = ([(each.drafted, each.emitted) for each in run.rounds] for run in (one, same))
    assert made == again
    assert one.output.token_ids != other.output.token_ids
    for on in (one, decoded(drafter, shape, seed=5)):
        off = decoded(drafter, shape, temperature=on.settings.temperature, seed=5, record=False)
        assert [parse_trace(dump_trace(run)) for run in (on, off)] == [on, off]
        fates = [[[token.status for token in round.drafted] for round in run.rounds] for run in (on, off)]
        assert (off.output, fates[1]) == (on.output, fates[0])
        drafted = [token for round in off.rounds for token in round.drafted]
        assert {token.target_prob for token in drafted} == {None}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    ("drafter", "shape"),
    [*product(["model"], GROWN + BEST[1:]), ("eagle", "γ=3"), ("medusa", "γ=3"), (FEW_WORDS, "4,2,1")],
)
def test_a_constraint_binds_every_guess_and_the_text(drafter: str, shape: str, temperature: float) -> None:
    settings = shaped(shape, max_new_tokens=20, temperature=temperature)
    trace = speculative_decode(TARGET, pair_of(drafter)[1], PROMPTS[0], settings, constraint=OddAndNew())
    guesses = [token.id for round in trace.rounds for token in round.drafted]
    assert guesses
    assert all(token % 2 for token in [*guesses, *trace.output.token_ids])
    assert all(one != other for one, other in pairwise([PROMPTS[0][-1], *trace.output.token_ids]))
    if not temperature:
        plain = autoregressive_decode(TARGET, PROMPTS[0], settings, constraint=OddAndNew())
        assert trace.output.token_ids == plain.output.token_ids


ENDS = [("model", "γ=3"), ("lookup", "γ=3"), ("early exit", "4,2,1"), ("eagle", "dynamic:12"), ("medusa", "γ=3")]
ENDS += [(FEW_WORDS, "4,2,1"), *((way, "γ=3") for way in BEHIND)]


@pytest.mark.parametrize(("drafter", "shape"), ENDS)
def test_an_end_of_text_ends_the_run_wherever_it_stands(drafter: str, shape: str) -> None:
    prompt = PROMPTS[0]
    written = expected(tuple(prompt))
    for end in set(written):
        trace = speculative_decode(ending(TARGET, end), pair_of(drafter)[1], prompt, shaped(shape))
        assert trace.output.token_ids == written[: written.index(end) + 1]
        assert trace.output.stopped_by == "eos"
        assert parse_trace(dump_trace(trace)) == trace


@pytest.mark.parametrize(
    "drafter", grid([each for each in DRAFTERS if each not in NO_GUESSES], ("model", "lookup, else eagle of few words"))
)
def test_what_it_guesses_along_a_text_gives_the_run_at_every_draft_length(drafter: str) -> None:
    """Also where an end of text comes early, late or in a block, and for every cap; 7 is no token."""
    way = pair_of(drafter)[1]
    for (end, cap), prompt in product(((7, 24), (1, 1), (5, 17)), PROMPTS[:3]):
        target, settings = ending(TARGET, end), DecodeSettings(max_new_tokens=cap)
        output = autoregressive_decode(target, prompt, settings).output.token_ids
        guesses = known(result_of(way.guess_along(target, prompt, output)))
        assert (guesses.drafter, guesses.exact) == (way.info, True)
        for length in (1, 5, 16):
            real = speculative_decode(target, way, prompt, replace(settings, draft_length=length))
            rounds = replay(guesses, length, cap, ends_of(real))
            for one, other in zip(rounds, real.rounds, strict=True):
                assert [guess.status for guess in one.drafted] == [token.status for token in other.drafted]
                assert (one.emitted.kind, one.emitted.id) == (other.emitted.kind, other.emitted.id)
            assert count(rounds) == count(real.rounds)
            drafted = (chain.from_iterable(each.drafted for each in run) for run in (rounds, real.rounds))
            for guess, token in zip(*drafted, strict=True):
                assert guess.id == token.id or (guess.id is None and guess.status == "discarded")


@pytest.mark.parametrize("shape", ["γ=3", "4,2,1", "dynamic:12"])
@pytest.mark.parametrize("early", [False, True], ids=["model", "early exit"])
def test_the_context_window_may_be_filled_to_the_last_token(early: bool, shape: str) -> None:
    target = tiny_model(seed=1, name="target")
    drafter = make_drafter("early-exit:1", target) if early else ModelDrafter(DRAFT)
    trace = speculative_decode(target, drafter, [1, 2, 3], shaped(shape, max_new_tokens=61))
    assert trace.output.token_ids == expected((1, 2, 3), 61)
    left = 61
    for round in trace.rounds:
        assert max(round.depths, default=-1) + 1 <= left - 1
        left -= len(round.emitted_ids)
