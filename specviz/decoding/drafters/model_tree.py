"""A draft model that reads the nodes of a tree, one depth in each pass."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree
from specviz.models.cached_model import CachedModel


class ModelNodes(NodeReader):
    """Reads with a model and its cache. Of a tree that is over, the cache keeps what has become text."""

    def __init__(self, model: CachedModel, prompt: Sequence[int]) -> None:
        self._model = model
        self._prompt = prompt
        self._read: list[int] = []  # the nodes in the cache, in order
        self._tree = Tree()  # which they belong to
        self._text = 0  # tokens before the tree

    def read_prompt(self) -> Iterator[None]:
        """Read all of the prompt except its last token: the first guess starts from that one."""
        yield from self._model.prefill_steps(self._prompt[:-1])

    def after_text(self, token_ids: Sequence[int]) -> Tensor:
        """Read what is new in the text."""
        if self._read:
            path = self._path(token_ids[self._text : -1])
            self._model.crop(self._text + len(path), path)
        logits = self._model.read(token_ids[self._model.length :])[-1:]
        self._read, self._text = [], len(token_ids)
        return logits

    def after_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        """Read these nodes in one pass."""
        place = {node: row for row, node in enumerate(self._read)} | {TEXT: TEXT}
        parents = [place[tree.parents[node]] for node in nodes]
        self._tree = tree
        self._read += nodes
        return self._model.read([tree.token_ids[node] for node in nodes], parents)

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
