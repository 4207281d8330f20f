"""The engine's work on the bundled models: for the game, a person's words in a real round; for the proof, batches that
continue after a break, greedy rows, nearly equal tokens."""

from dataclasses import replace
from typing import Any

import pytest

from specviz import DecodeSettings, InputError, autoregressive_decode
from specviz.core.request import RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.game.game import LOOKUP, MODEL, OFFERS, GamePlan, GameRequest, Turn
from specviz.game.words import branches
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import BATCHES, PATH, RULES, GreedyRow, dump_proof, recorded_proof
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.service import protocol as wire
from specviz.service.handlers.long import compare_greedy_steps, enumerate_rules_steps, prove_steps
from specviz.service.handlers.play import guess_ids, play_steps
from specviz.service.workshop import Workshop
from tests.support.fake_workshop import workshop_with
from tests.support.known import known
from tests.support.tiny_models import tiny_model


@pytest.fixture
def workshop(target: LoadedModel, nano: LoadedModel) -> Workshop:
    return workshop_with(target, nano)


def found(steps: wire.JobSteps) -> list[Any]:
    """The results as the server has them: after their way through the pipe."""
    events = [wire.parse_event(wire.dump_event(event)) for event in steps if event]
    assert isinstance(events[0], wire.RunStarted)
    return [event.item for event in events if isinstance(event, wire.JobItem)]


# ---- the game

PROMPT = "It was a hot day. Tim and his dog went to the beach. They built a big"


@pytest.fixture
def play(workshop: Workshop) -> Any:
    def turn(action: Any = "guess", prompt: str = PROMPT, seed: int = 0, **ask: Any) -> Turn:
        asked = wire.Play(3, RunRequest(prompt, settings=DecodeSettings(seed=seed)), GameRequest(action, **ask))
        (played,) = found(play_steps(asked, workshop))
        return played

    return turn


def own_words(target: LoadedModel, prompt: str | list[int], tokens: int) -> list[int]:
    return autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=tokens)).output.token_ids


def test_a_wrong_word_is_corrected_with_the_traces_own_figures(play: Any, target: LoadedModel) -> None:
    turn = play(guess="sandbox by the sea")
    assert [(token.text, token.status) for token in turn.round.drafted] == [
        (" sand", "accepted"), ("box", "rejected"), *((text, "discarded") for text in (" by", " the", " sea")),
    ]  # fmt: skip
    assert (turn.round.emitted.kind, turn.round.emitted_ids) == ("correction", own_words(target, PROMPT, 2))
    rejected = turn.round.drafted[1]
    assert rejected.draft_prob == 1, "a person names one token: a point mass"
    assert max(rejected.candidates, key=lambda c: c.p).id == turn.round.emitted.id
    trace = parse_trace(dump_trace(turn.trace))
    assert (trace.drafter, trace.settings.greedy) == (DrafterInfo("person", "you"), True)
    assert (trace.target.dtype, trace.prompt.text) == ("float32", PROMPT)


def test_a_second_guess_is_checked_in_the_same_pass(play: Any, target: LoadedModel) -> None:
    """One round of the real loop with real tree verification; the text stays the target's own."""
    own = own_words(target, PROMPT, 5)
    words = str(target.tokenizer.decode(own[:4])).strip()
    turn = play(guess="xylophone by the sea", second=words)
    assert (turn.round.is_tree, len(turn.trace.rounds)) == (True, 1)
    first, second = branches(turn.round)
    assert first.accepted == 0
    assert [(token.id, token.status) for token in second.drafted] == [(token, "accepted") for token in own[:4]]
    assert turn.round.emitted_ids == own
    assert turn.text == PROMPT + str(target.tokenizer.decode(own))
    # beside two guesses the model drafts a tree of as many tokens
    turn = play(guess="sandbox by the sea", second="castle of sand")
    mine, model, lookup = turn.round, turn.rivals[MODEL], turn.rivals[LOOKUP]
    assert (model.is_tree, lookup.is_tree, len(model.drafted)) == (True, False, len(mine.drafted))
    assert max(model.depth, len(lookup.drafted)) <= mine.depth
    own = own_words(target, PROMPT, mine.depth + 1)
    for round in (mine, model, lookup):
        assert round.emitted_ids == own[: len(round.emitted_ids)], "all three are checked against the same text"


def test_a_draft_holds_sixteen_tokens(play: Any) -> None:
    turn = play(guess="castle and they were all very happy and they went home and had a big cake for Tim")
    assert len(turn.round.drafted) == len(turn.rivals[MODEL].drafted) == MAX_DRAFT_LENGTH
    assert turn.cut == 2


def test_words_are_cut_as_the_tokenizer_cuts_the_whole_text(target: LoadedModel) -> None:
    def cut(text: str) -> list[int]:
        return list(target.tokenizer(text)["input_ids"])

    for words in ("sandbox", " sandbox", "sandcastle.", ", red house", "n't", '"Hello," said Tim'):
        added = words if words.startswith((" ", ",")) else f" {words}"
        assert [*cut(PROMPT), *guess_ids(target, cut(PROMPT), words)] == cut(PROMPT + added)
    begun = "The children made a"
    open_word = [*cut(begun), *guess_ids(target, cut(begun), "b")]
    got = guess_ids(target, open_word, "ig dog", inside_word=True)
    assert target.tokenizer.decode(got) == "ig dog"
    assert [*open_word, *got] != cut(f"{begun} big dog"), "it would join them across the seam, and the text stays"


OPENERS = (  # one of them leaves the target inside a word; which, depends on the weights
    (PROMPT, "sandbox"),
    ("Tim and Anna were at the beach. They took the sand and made a tall", "sand cat"),
    ("Tim and Anna were at the beach. They took the sand and made a tall", "sandbox"),
    ("Anna went to the park. She saw a big", "butterball"),
)


def test_an_unfinished_word_is_marked_and_continued(play: Any, target: LoadedModel) -> None:
    turns = ((prompt, play(prompt=prompt, guess=guess)) for prompt, guess in OPENERS)
    prompt, turn = next((prompt, turn) for prompt, turn in turns if turn.joins)
    own = own_words(target, turn.text_ids, 3)
    text = str(target.tokenizer.decode(own))
    assert text[0].isalpha(), "the word goes on"
    after = play(prompt=prompt, text_ids=turn.text_ids, guess=text, joins=True)
    assert after.text.startswith(f"{turn.text}{text}")
    assert [(token.id, token.status) for token in after.round.drafted] == [(token, "accepted") for token in own]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (GameRequest("guess", guess="日本語"), "Latin alphabet"),
        (GameRequest("guess", guess="castle", second="<|endoftext|>"), "a mark that models use"),
        (GameRequest("guess", text_ids=[600] * 511, guess="sandbox"), "context window of 512"),
    ],
)
def test_bad_input_is_refused(ask: GameRequest, says: str, workshop: Workshop) -> None:
    with pytest.raises(InputError, match=says):
        found(play_steps(wire.Play(3, RunRequest(PROMPT), ask), workshop))


def test_words_that_no_tokens_spell_are_refused(target: LoadedModel) -> None:
    with pytest.raises(InputError, match="no tokens that spell this"):  # it knows w0 to w6; any other word becomes w0
        guess_ids(tiny_model(seed=1), [1, 2], "zebra")
    assert guess_ids(target, [1, 2], "zebra"), "a tokenizer of bytes spells everything"


def test_candidates_are_real_differ_and_hold_the_targets_own_at_a_place_that_gives_nothing_away(
    play: Any, target: LoadedModel
) -> None:
    def offered(prompt: str = PROMPT, seed: int = 0) -> tuple[Turn, list[bool]]:
        """And which of them the target would accept whole."""
        turn, own = play("offer", prompt, seed, offers=True), own_words(target, prompt, 8)
        return turn, [own[: len(offer.token_ids)] == offer.token_ids for offer in turn.offers]

    assert offered(seed=1) == offered(seed=1), "for a whole class"
    assert len({offered(seed=seed)[1].index(True) for seed in range(6)}) >= 3
    for preset in GamePlan().prompts:
        turn, right = offered(preset.text)
        assert turn.trace is None
        assert len(turn.offers) == len({offer.text.strip().lower() for offer in turn.offers}) == OFFERS
        assert 0 < sum(right) < OFFERS
        played = play(prompt=preset.text, picked=turn.offers[right.index(True)].token_ids, offers=True)
        assert played.round.emitted.kind == "bonus"
        assert played.offers


# ---- the proof

SAMPLING = RunRequest("The cat sat on the", settings=DecodeSettings(temperature=1.0, draft_length=2))


def compared(workshop: Workshop, request: RunRequest, presets: list[str], **more: Any) -> list[GreedyRow]:
    return found(compare_greedy_steps(wire.CompareGreedy(1, request, presets, **more), workshop))


def test_a_proof_that_gave_way_ends_as_it_would_have(workshop: Workshop) -> None:
    command = wire.Prove(1, SAMPLING, "lossless", "first", 50)
    whole, rest = (found(prove_steps(replace(command, done=done), workshop)) for done in (0, 8))
    assert [batch.draws for batch in whole] == [5] * BATCHES
    assert [(b.speculative, b.plain) for b in rest] == [(b.speculative, b.plain) for b in whole[8:]]


def test_greedy_rows_come_prompt_by_prompt_and_go_on_after_a_break(workshop: Workshop) -> None:
    request = RunRequest("The cat sat", settings=DecodeSettings(max_new_tokens=12))
    (row,) = compared(workshop, request, ["story-1", "copy-2"], done=1)
    assert (row.preset, row.same, row.tokens, row.identical) == ("copy-2", 12, 12, True)
    (row,) = compared(workshop, request, [])
    assert (row.preset, row.prompt) == ("", "The cat sat")


def test_a_cache_that_forgets_one_row_fails_and_the_real_one_does_not(workshop: Workshop) -> None:
    request = RunRequest("", settings=DecodeSettings(max_new_tokens=32))
    (broken,) = compared(workshop, request, ["story-1"], forgets=True)
    judged = known(broken.judged)
    assert judged.state == "fails"
    assert judged.sentence.startswith("FAILS: this difference is larger than rounding explains")
    assert known(broken.near_tie).ways[2].gap > 0, "in float32 the plain token leads: it is the right one"
    (real,) = compared(workshop, request, ["story-1"])
    assert real.identical


def test_bad_requests_get_a_sentence(workshop: Workshop) -> None:
    with pytest.raises(InputError, match="not among those"):
        compared(workshop, SAMPLING, ["nothing-7"])
    with pytest.raises(InputError, match="bundled models only"):
        compared(workshop, RunRequest("Hello", target="gpt2"), [], half=True)


def test_the_recorded_proof_holds_every_rule_and_comes_out_as_it_should() -> None:
    proof = known(recorded_proof())
    assert [draws.rule for draws in proof.draws] == [rule.name for rule in RULES]
    for rule, draws in zip(RULES, proof.draws, strict=True):
        assert finding(draws.batches).state == ("passes" if rule.lossless else "fails"), rule.name
    assert set(proof.weights) <= set(bundled_names())
    assert PATH.read_bytes() == dump_proof(proof)
    # rounding parted the two: the scores are within two steps of bfloat16 there, and nearer yet in float32
    tie, forgotten = known(proof.near_tie.near_tie), known(proof.forgotten_row)
    assert [way.way for way in tie.ways] == ["one token", "batched", "float32"]
    one, batched, exact = tie.ways
    assert one.gap >= 0 >= batched.gap != one.gap  # each pass took its own most probable token
    assert max(abs(one.gap), abs(batched.gap), abs(exact.gap)) <= 2 * 2**-7 * abs(one.plain)
    assert 2 <= tie.batch <= proof.near_tie.draft_length + 1
    assert [row.judged.state for row in (forgotten, proof.near_tie) if row.judged] == ["fails", "rounding"]
    assert all(row.identical for row in proof.greedy)


def test_what_is_stored_follows_from_both_models_and_a_tree_is_refused(workshop: Workshop) -> None:
    proof = known(recorded_proof())
    if proof.changed_weights:
        pytest.skip("recorded with other weights: run python -m scripts.record proof")
    command = wire.EnumerateRules(4, proof.request)
    (again,) = found(enumerate_rules_steps(command, workshop))
    stored = known(proof.enumerated)
    assert again.guesses == stored.guesses
    for name, places in (stored.judged | stored.bonus).items():
        other = (again.judged | again.bonus)[name]
        assert other.distances == pytest.approx(places.distances, abs=1e-4), name
    assert found(enumerate_rules_steps(replace(command, done=1), workshop)) == []
    grown = replace(proof.request, settings=replace(proof.request.settings, tree="2,2", draft_length=2))
    with pytest.raises(InputError, match="leave out the tree"):
        found(enumerate_rules_steps(replace(command, request=grown), workshop))
