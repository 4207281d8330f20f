"""Drafting with a smaller model that has the target's tokens, or all but the last of them."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from specviz.core.replay import DraftGuesses
from specviz.core.settings import DecodeSettings
from specviz.core.steps import Steps
from specviz.decoding.drafters.protocol import DraftContext, Drafter, Proposer, guesses_of
from specviz.decoding.drafters.translated import TranslatedDrafter
from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree, proposer_of
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.loading import load_model
from specviz.models.pairing import drafts_in_tokens, shared_vocabulary


class ModelNodes(NodeReader):
    """Reads with a model and its cache. Of a tree that is over, the cache keeps what has become text."""

    def __init__(self, model: CachedModel, prompt: Sequence[int]) -> None:
        self._model = model
        self._prompt = prompt
        self._read: list[int] = []  # the nodes in the cache, in order
        self._tree = Tree()  # which they belong to
        self._text = 0  # tokens before the tree

    def read_prompt(self) -> Iterator[None]:
        yield from self._model.prefill_steps(self._prompt[:-1])

    def read_text(self, token_ids: Sequence[int]) -> Tensor:
        if self._read:
            path = self._path(token_ids[self._text : -1])
            self._model.crop(self._text + len(path), path)
        logits = self._model.read(token_ids[self._model.length :])[-1:]
        self._read, self._text = [], len(token_ids)
        return logits

    def read_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        place = {node: row for row, node in enumerate(self._read)} | {TEXT: TEXT}
        parents = [place[tree.parents[node]] for node in nodes]
        self._tree = tree
        self._read += nodes
        return self._model.read([tree.token_ids[node] for node in nodes], parents)

    def read_chain(self, token_ids: Sequence[int], chain: Tree) -> Tensor:
        """Read the guess that is new, without a mask; after a full accept, the text's last two tokens first."""
        return self._model.read([*token_ids, *chain.token_ids][self._model.length :])[-1:]

    def commit(self, length: int) -> None:
        """Remove what was not accepted of a chain; of a tree, this waits until the text says which path was taken."""
        if not self._read:
            self._model.crop(length)

    def _path(self, written: Sequence[int]) -> list[int]:
        """Rows of the tree that the text has followed since: siblings differ, so there is at most one such path."""
        children = {(self._tree.parents[node], self._tree.token_ids[node]): row for row, node in enumerate(self._read)}
        path: list[int] = []
        node = TEXT
        for token_id in written:
            if (row := children.get((node, token_id))) is None:
                break
            path.append(row)
            node = self._read[row]
        return path


CHUNK = 64  # tokens read in one pass along an output: the logits of a long one would take hundreds of megabytes


class ModelDrafter(Drafter):
    grows_trees = True

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded: LoadedModel | None = loaded
        self._model = loaded
        self.info = loaded.info.make_drafter_info("model")

    def begin(self, context: DraftContext) -> Proposer:
        model = context.open_model(self._model, context.setup.vocabulary)
        return proposer_of(ModelNodes(model, context.setup.prompt.token_ids), context)

    def guess_along(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        """The model's most probable token before each token of the output.

        The model reads many tokens in one pass here and one at a time when it drafts, and the two may round
        differently. So may the target's passes at another draft length. In float32 this almost never changes a token;
        in bfloat16 nearly equal tokens are common, and `exact` is False if either model is in it.
        """
        output = list(output_ids)
        guesses: list[int] = []
        model = CachedModel(self._model, shared_vocabulary(target, self._model))
        steps = _guess(model, [*prompt_ids, *output], len(output), guesses)
        return (yield from guesses_of(self.info, target, output, steps, guesses=guesses))


def _guess(model: CachedModel, token_ids: list[int], count: int, guesses: list[int]) -> Iterator[None]:
    first = len(token_ids) - count - 1  # the guess at the output's first token follows the prompt's last token
    yield from model.prefill_steps(token_ids[:first])
    for start in range(first, len(token_ids) - 1, CHUNK):
        guesses += model.read(token_ids[start : min(start + CHUNK, len(token_ids) - 1)]).argmax(-1).tolist()
        yield


def load(name: str, target: LoadedModel, dtype: Dtype) -> LoadedModel:
    return load_model(name, dtype)


def fit(target: LoadedModel, loaded: LoadedModel, settings: DecodeSettings) -> Drafter:
    """Token by token if the same numbers mean the same tokens, else by way of the text."""
    if drafts_in_tokens(target.tokens, loaded.tokens, greedy=settings.greedy):
        return ModelDrafter(loaded)
    drafter = TranslatedDrafter(loaded, target)
    drafter.check(settings)
    return drafter
