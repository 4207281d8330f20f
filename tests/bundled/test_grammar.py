"""Constrained output with the bundled pair, and on models so small that everything can be counted."""

import json
import random
import re
from collections.abc import Sequence

import pytest

from specviz import DecodeSettings, ModelDrafter
from specviz.data.prompts.grammars import Grammar
from specviz.data.prompts.workloads import Preset, find_workload
from specviz.decoding import autoregressive_decode, make_constraint, speculative_decode
from specviz.decoding.grammar import GrammarConstraint
from specviz.models.loaded_model import LoadedModel
from tests.support.known import known
from tests.support.strategies import refusal
from tests.support.tiny_grammar import ALPHABET, LANGUAGE, WORDS, lettered, letters, may_follow
from tests.support.tiny_models import ending, tiny_model, with_tokenizer


def matches(grammar: Grammar, output: str) -> bool:
    """Whether Python's own readers take the text: as an expression, or as JSON with the properties of the schema."""
    whole = grammar.opened + output
    if grammar.kind == "regex":
        return re.fullmatch(grammar.text, whole) is not None
    value, schema = json.loads(whole), json.loads(grammar.text)
    objects, inner = (value, schema["items"]) if isinstance(value, list) else ([value], schema)
    return all(list(each) == list(inner.get("properties", {})) for each in objects)


@pytest.mark.parametrize("preset", known(find_workload("constrained")).prompts, ids=lambda preset: preset.name)
def test_plain_output_matches_the_grammar(target: LoadedModel, preset: Preset) -> None:
    constraint = make_constraint(target, known(preset.grammar), preset.text)
    plain = autoregressive_decode(target, preset.text, DecodeSettings(128), constraint=constraint).output
    assert plain.stopped_by == "eos", "too long to tell"
    assert matches(known(preset.grammar), plain.text)


# --- models of seven tokens, whose every text can be listed

TINY_PROMPT = [1, 2, 1, 2, 1]
TINY, SMALLER = lettered(2), lettered(1)


def both(target: LoadedModel, draft: LoadedModel, constraint: GrammarConstraint, settings: DecodeSettings) -> list[int]:
    """What speculation writes, which is what the target alone writes."""
    plain = autoregressive_decode(target, TINY_PROMPT, settings, constraint=constraint).output.token_ids
    trace = speculative_decode(target, ModelDrafter(draft), TINY_PROMPT, settings, constraint=constraint)
    assert trace.output.token_ids == plain
    return plain


def test_every_mask_equals_its_definition_wherever_the_text_jumps() -> None:
    """Rolled back, continued, and after a guess that is not allowed, whose mask is not used."""
    constraint = make_constraint(TINY, LANGUAGE, TINY_PROMPT)
    begun = sorted({word[:place] for word in WORDS for place in range(len(word) + 1)})
    for text in random.Random(1).sample(begun, len(begun)):
        output = [*TINY_PROMPT, *(ALPHABET.index(letter) for letter in text)]
        may = [may_follow(text, token) for token in range(7)]
        assert constraint.allowed(output).tolist() == may, text
        for wrong in [token for token in range(1, 7) if not may[token]][:1]:
            assert constraint.allowed([*output, wrong]).all()
        assert constraint.allowed(output).tolist() == may, text
    assert len(begun) > 50


def test_only_an_end_of_text_follows_an_end_of_text() -> None:
    """And every end of text may end an output that is whole."""
    for expression, text, may in (("", TINY_PROMPT, [0]), ("b", [*TINY_PROMPT, 2], [0, 6])):
        mask = make_constraint(ending(lettered(2), *may), Grammar("regex", expression), TINY_PROMPT).allowed(text)
        assert mask.nonzero().flatten().tolist() == may
    constraint = make_constraint(TINY, LANGUAGE, TINY_PROMPT)
    assert constraint.allowed([*TINY_PROMPT, 2, 0]).tolist() == [True] + [False] * 6
    written = both(TINY, SMALLER, constraint, DecodeSettings(20, stop_at_eos=False))
    assert (len(written), written[-8:]) == (20, [0] * 8)


def test_padding_of_an_embedding_is_never_allowed() -> None:
    target, draft = lettered(2, vocabulary=12), lettered(1, vocabulary=9)
    constraint = make_constraint(target, Grammar("regex", "(.|\n)*"), TINY_PROMPT)
    assert constraint.allowed(TINY_PROMPT).shape == (7,)
    settings = DecodeSettings(20, stop_at_eos=False, temperature=1.0)
    output = speculative_decode(target, ModelDrafter(draft), TINY_PROMPT, settings, constraint=constraint).output
    assert max(output.token_ids) < 7
    draft = with_tokenizer(lettered(1, vocabulary=6), letters())  # has no row for the last token, "ca"
    constraint = make_constraint(TINY, LANGUAGE, TINY_PROMPT)
    assert constraint.allowed(TINY_PROMPT).shape == (7,)
    both(TINY, draft, constraint, DecodeSettings(12))


def test_a_grammar_without_a_possible_token_gets_one_sentence() -> None:
    constraint = make_constraint(TINY, Grammar("regex", "bx"), TINY_PROMPT)  # there is no x
    assert "no token that it allows here" in refusal(lambda: constraint.allowed([*TINY_PROMPT, 2]))
    draft = with_tokenizer(lettered(1, vocabulary=2), letters())  # has no b, which the target writes all the same
    only_b = make_constraint(TINY, Grammar("regex", "b"), TINY_PROMPT)
    assert both(TINY, draft, only_b, DecodeSettings(4))[:1] == [2]


ENDLESS = tiny_model(seed=1, name="endless")


@pytest.mark.parametrize(
    ("target", "grammar", "prompt", "says"),
    [
        (TINY, Grammar("regex", "abc", opened="a"), [2, 2], "prompt must end with 'a'"),
        (TINY, Grammar("regex", "abc", opened="b"), [1, 2], "cannot begin with 'b'"),
        (TINY, Grammar("regex", "b"), [], "prompt is empty"),
        (TINY, Grammar("regex", "b"), [99], "outside 0 to 6"),
        (ENDLESS, LANGUAGE, [1], "endless has no end-of-text token"),
        (ending(ENDLESS, 0), LANGUAGE, [1], "The output of endless cannot be constrained"),
    ],
)
def test_a_grammar_has_to_fit(target: LoadedModel, grammar: Grammar, prompt: Sequence[int], says: str) -> None:
    assert says in refusal(lambda: make_constraint(target, grammar, prompt))


def test_a_grammar_may_be_opened_by_the_prompt() -> None:
    begun = make_constraint(TINY, Grammar("regex", "abc", opened="a"), [2, 1])
    assert begun.allowed([2, 1]).nonzero().flatten().tolist() == [ALPHABET.index("b"), ALPHABET.index("bc")]
