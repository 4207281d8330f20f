"""Drafting with a head on the target, which reads the target's last hidden states (`models/heads.py`)."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps
from specviz.decoding.drafters.protocol import DraftContext, Drafter, Proposer, guesses_of
from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree, proposer_of
from specviz.decoding.run_setup import RunSetup
from specviz.models.cached_model import CHUNK, CachedModel, tree_mask
from specviz.models.heads import EagleHead, LoadedHead, MedusaHeads, load_head
from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import Dtype, LoadedModel
from specviz.models.pairing import shared_vocabulary


class MedusaReader(NodeReader):
    """Gives every guess of a depth the same row of its one pass."""

    def __init__(self, heads: MedusaHeads, states: HiddenStates, vocabulary: int) -> None:
        self._heads = heads
        self._states = states
        self.longest = heads.depths
        self._logits = torch.zeros(heads.depths, vocabulary)

    @torch.inference_mode()
    def read_text(self, token_ids: Sequence[int]) -> Tensor:
        """Guess from the target's last state: the one before the text's last token, which it has not read yet."""
        if len(token_ids) == 1:  # it has read nothing: every token is as probable as any other
            self._logits = torch.zeros_like(self._logits)
        else:
            state = self._states.since(len(token_ids) - 2)[0].to(self._heads.down.dtype)
            self._logits = self._heads.logits(state)[:, : self._logits.shape[1]].to("cpu", torch.float32)
        return self._logits[:1]

    def read_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        """The rows of these guesses' depths; they are the same whatever was guessed before."""
        return self._logits[[len(tree.path(node)) for node in nodes]]


class EagleReader(NodeReader):
    """Reads pairs: the state after a token, and the token that follows it.

    The pairs of a text of n tokens are n - 1, one fewer than its tokens. Those whose state is the target's stay in the
    cache for good. Those of guesses have the head's own states: they are removed when the round is over, and what was
    accepted of them is read again with the target's states, all together with the first step of the next round.
    """

    def __init__(self, head: EagleHead, states: HiddenStates, prompt: Sequence[int], vocabulary: int) -> None:
        self._head = head
        self._states = states
        self._prompt = prompt
        self._vocabulary = vocabulary
        self._cache = head.body.cache()
        self._sure = 0  # pairs in the cache that were read with the target's states
        self._text = 0  # pairs in the cache before the guesses of this round
        self._read: list[int] = []  # the guesses in the cache, in order
        self._parents: list[int] = []  # which of them each one follows
        self._own = head.body.norm.new_zeros(1, len(head.body.norm))  # its state after the text and each guess

    @torch.inference_mode()
    def read_prompt(self) -> Iterator[None]:
        """Read all pairs of the prompt except the last: the first guess starts from that one."""
        end = len(self._prompt) - 1
        while self._sure < end - 1:
            stop = min(self._sure + CHUNK, end - 1)
            self._hidden(self._states.since(self._sure)[: stop - self._sure], self._prompt[self._sure + 1 : stop + 1])
            self._sure = stop
            yield

    @torch.inference_mode()
    def read_text(self, token_ids: Sequence[int]) -> Tensor:
        self._cache.crop(self._sure)
        if len(token_ids) > 1:
            new = token_ids[self._sure + 1 :]
            hidden = self._hidden(self._states.since(self._sure)[: len(new)], new)
            self._sure = len(token_ids) - 1
        else:  # the target has read nothing yet: an empty state goes before the only token
            hidden = self._hidden(torch.zeros_like(self._own[:1]), token_ids)
        self._own, self._text = hidden[-1:], self._cache.length
        self._read, self._parents = [], []
        return self._logits(self._own)

    @torch.inference_mode()
    def read_nodes(self, tree: Tree, nodes: list[int]) -> Tensor:
        row = {node: row for row, node in enumerate(self._read)} | {TEXT: TEXT}
        parents = [row[tree.parents[node]] for node in nodes]
        self._read += nodes
        self._parents += parents
        before, positions, mask = self._own[[parent + 1 for parent in parents]], None, None
        if self._parents != list(range(-1, len(self._parents) - 1)):  # a chain needs none
            positions, mask = tree_mask(self._text, self._parents, len(nodes), self._own.device)
        hidden = self._hidden(before, [tree.token_ids[node] for node in nodes], positions, mask)
        self._own = torch.cat([self._own, hidden])
        return self._logits(hidden)

    def _hidden(
        self, states: Tensor, token_ids: Sequence[int], positions: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        ids = torch.tensor(token_ids, device=self._own.device)
        return self._head.hidden(states.to(self._own.dtype), ids, self._cache, positions, mask)

    def _logits(self, hidden: Tensor) -> Tensor:
        return self._head.logits(hidden)[:, : self._vocabulary].to("cpu", torch.float32)


class HeadDrafter(Drafter):
    grows_trees = True

    def __init__(self, head: LoadedHead) -> None:
        self.head = head
        self.info = head.info.make_drafter_info(head.kind)

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """Raises InputError: the head was trained on other weights than the target's; or see `Drafter.set_up`."""
        self.head.check(target)
        return super().set_up(target, prompt, settings)

    def begin(self, context: DraftContext) -> Proposer:
        if context.target is None:
            raise ValueError("A head drafts from the states of a target that reads along: give `DraftContext.target`.")
        setup = context.setup
        reader = self._reader(context.target.store_states(), setup.prompt.token_ids, setup.vocabulary)
        return proposer_of(reader, context)

    def guess_along(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        """The guesses of a round at each place of the output: they depend on the text before it and on nothing else."""
        self.head.check(target)
        output = list(output_ids)
        proposals: list[list[int]] = []
        steps = self._along(target, [*prompt_ids, *output], len(output), proposals)
        return (yield from guesses_of(self.info, target, output, steps, proposals=proposals))

    def _along(self, target: LoadedModel, text: list[int], count: int, proposals: list[list[int]]) -> Iterator[None]:
        vocabulary, prompt = shared_vocabulary(target), text[: len(text) - count]
        model = CachedModel(target, vocabulary)
        known = model.store_states()
        yield from model.prefill_steps(text[:-1])
        states = HiddenStates()  # what the target has read when the round begins: all of the text but its last token
        if len(prompt) > 1:
            states.append(known.since(0)[: len(prompt) - 1])
        reader = self._reader(states, prompt, vocabulary)
        yield from reader.read_prompt()
        for place in range(len(prompt), len(text)):
            if states.length < place - 1:
                states.append(known.since(states.length)[: place - 1 - states.length])
            most = min(MAX_DRAFT_LENGTH, reader.longest or MAX_DRAFT_LENGTH)
            tree = Tree()
            for depth in range(most):
                logits = reader.read_chain(text[:place], tree)
                tree.add(depth - 1 if depth else TEXT, int(logits.argmax()), logits[0])
            proposals.append(tree.token_ids)
            yield

    def _reader(self, states: HiddenStates, prompt: Sequence[int], vocabulary: int) -> NodeReader:
        network = self.head.network
        if isinstance(network, EagleHead):
            return EagleReader(network, states, prompt, vocabulary)
        return MedusaReader(network, states, vocabulary)


def load(name: str, target: LoadedModel, dtype: Dtype) -> LoadedHead:
    return load_head(name, target, dtype)


def fit(target: LoadedModel, loaded: LoadedHead, settings: DecodeSettings) -> Drafter:
    return HeadDrafter(loaded)
