"""The light tokenizer of the bundled models against transformers' class for the same file."""

import pytest

from specviz import load_model
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import TokenTexts
from specviz.models.tokens import LightTokens, Tokens

TEXTS = [
    "Once upon a time",
    " two  spaces\n\n\tand a tab ",
    "<|endoftext|> spelled out<|endoftext|>",
    "Königin, 日本語, 🙂‍↔️, \x00 and \ud7ff",
    "",
]


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return load_model("wren-nano")


@pytest.fixture(scope="module")
def light(loaded: LoadedModel) -> Tokens:
    assert isinstance(loaded.tokens, LightTokens)
    return loaded.tokens


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("special", [True, False])
def test_a_text_has_the_same_tokens(loaded: LoadedModel, light: Tokens, text: str, split: bool, special: bool) -> None:
    options = {"add_special_tokens": special, "split_special_tokens": split}
    ours = light(text, **options)["input_ids"]
    assert ours == loaded.tokenizer(text, **options)["input_ids"]
    for skip in (True, False):
        spelled = light.decode(ours, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
        assert spelled == loaded.tokenizer.decode(ours, skip_special_tokens=skip, clean_up_tokenization_spaces=False)


def test_every_token_is_written_the_same(loaded: LoadedModel, light: Tokens) -> None:
    theirs = loaded.tokenizer
    assert len(light) == len(theirs)
    assert light.get_vocab() == theirs.get_vocab()
    ours, other = TokenTexts(light), TokenTexts(theirs)
    assert [ours[token] for token in range(len(light) + 2)] == [other[token] for token in range(len(light) + 2)]


def test_the_marks_are_the_same(loaded: LoadedModel, light: Tokens) -> None:
    theirs = loaded.tokenizer
    assert (light.eos_token_id, light.all_special_ids) == (theirs.eos_token_id, theirs.all_special_ids)
    assert light.all_special_tokens == theirs.all_special_tokens


def test_cleaning_up_spaces_is_refused(light: Tokens) -> None:
    with pytest.raises(ValueError, match="clean up no spaces"):
        light.decode([5], clean_up_tokenization_spaces=True)
