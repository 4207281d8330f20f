"""Drafting with a head on the target, which reads the target's last hidden states (`models/heads.py`)."""

from collections.abc import Iterator, Sequence
from itertools import chain

from specviz.core.replay import DraftGuesses, is_exact
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps, result_of
from specviz.decoding.drafters.chain import ChainProposer
from specviz.decoding.drafters.eagle import EagleReader
from specviz.decoding.drafters.medusa import MedusaReader
from specviz.decoding.drafters.protocol import DraftContext, Drafter, Proposer
from specviz.decoding.drafters.tree import TEXT, NodeReader, Tree, TreeProposer
from specviz.decoding.prompt_reading import TimedReading
from specviz.decoding.run_setup import RunSetup
from specviz.models.cached_model import CachedModel
from specviz.models.head_files import LoadedHead
from specviz.models.heads import EagleHead
from specviz.models.hidden_states import HiddenStates
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import texts_of
from specviz.models.vocabularies import shared_vocabulary


class HeadDrafter(Drafter):
    """Drafts with an EAGLE head or with Medusa heads."""

    grows_trees = True

    def __init__(self, head: LoadedHead) -> None:
        self.head = head
        made = head.info
        self.info = made.as_drafter(head.kind)

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        """Tokenize and check.

        Raises:
            InputError: the head was trained on other weights than the target's; or see `Drafter.set_up`.
        """
        self.head.check(target)
        return super().set_up(target, prompt, settings)

    def begin(self, context: DraftContext) -> Proposer:
        """Ask the target to store its states; nothing is read yet."""
        if context.target is None:
            raise ValueError("A head drafts from the states of a target that reads along: give `DraftContext.target`.")
        setup = context.setup
        reader = self._reader(context.target.store_states(), setup.prompt.token_ids, setup.vocabulary)
        shape = setup.settings.tree_shape
        return TreeProposer(reader, context, shape) if shape else ChainProposer(reader, context)

    def guess_along(self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]) -> DraftGuesses:
        """The same as `guess_along_steps`, without a pause."""
        return result_of(self.guess_along_steps(target, prompt_ids, output_ids))

    def guess_along_steps(
        self, target: LoadedModel, prompt_ids: Sequence[int], output_ids: Sequence[int]
    ) -> Steps[DraftGuesses]:
        """The guesses of a round at each place of the output: they depend on the text before it and on nothing else."""
        self.head.check(target)
        output = list(output_ids)
        proposals: list[list[int]] = []
        reading = TimedReading(self._along(target, [*prompt_ids, *output], len(output), proposals))
        yield from reading
        texts = texts_of(target.tokenizer, [*output, *chain.from_iterable(proposals)])
        exact = is_exact(target.info.dtype, self.info.dtype)
        return DraftGuesses(self.info, output, None, proposals, texts, exact, reading.seconds)

    def _along(self, target: LoadedModel, text: list[int], count: int, proposals: list[list[int]]) -> Iterator[None]:
        """Append to `proposals` the guesses at each of the last `count` places of the text."""
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
            proposals.append(_most_probable(reader, text[:place], most))
            yield

    def _reader(self, states: HiddenStates, prompt: Sequence[int], vocabulary: int) -> NodeReader:
        network = self.head.network
        if isinstance(network, EagleHead):
            return EagleReader(network, states, prompt, vocabulary)
        return MedusaReader(network, states, vocabulary)


def _most_probable(reader: NodeReader, text: list[int], most: int) -> list[int]:
    """The greedy guesses after a text."""
    tree = Tree()
    for place in range(most):
        logits = reader.after_nodes(tree, [place - 1]) if place else reader.after_text(text)
        tree.add(place - 1 if place else TEXT, int(logits.argmax()), logits[0])
    return tree.token_ids
