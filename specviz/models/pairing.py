"""May this draft serve this target? Only if every token id means the same to both."""

from specviz.errors import InputError
from specviz.models.loading import LoadedModel


def shared_vocabulary(target: LoadedModel, draft: LoadedModel | None = None) -> int:
    """How many logits are real tokens; what a model's embedding has beyond them is padding, to be ignored.

    Raises:
        InputError: the tokenizers differ; names the first token that does.
    """
    size = min(len(target.tokenizer), int(target.model.config.get_text_config().vocab_size))
    if draft is None or draft.tokenizer is target.tokenizer:
        return size
    ours, theirs = target.tokenizer.get_vocab(), draft.tokenizer.get_vocab()
    if ours == theirs:
        return min(size, int(draft.model.config.get_text_config().vocab_size))
    by_id = {token_id: token for token, token_id in theirs.items()}
    differing = [(token_id, token) for token, token_id in ours.items() if by_id.get(token_id) != token]
    token_id, token = min(differing, default=(len(ours), "nothing"))
    raise InputError(
        f"{draft.name} cannot draft for {target.name}: their tokenizers differ first at token {token_id}, "
        f"{token!r} for the target and {by_id.get(token_id)!r} for the draft."
    )
