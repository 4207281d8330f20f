"""A way to draft that exists in tests alone: it repeats the last token. Its entry is all that the program is told."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from specviz.core.drafters import METHODS, Method, method_of
from specviz.core.settings import DecodeSettings
from specviz.core.trace import DrafterInfo
from specviz.decoding.drafters.protocol import Draft, DraftContext, Drafter, Proposer
from specviz.models.loaded_model import Dtype, LoadedModel

TOY = Method(
    kind="toy",
    label="toy",
    module=__name__,
    names=("toy",),
    group=method_of("prompt-lookup").group,
    about="The toy repeats the last token.",
    trees=False,
    samples=False,
    at_once=True,
    subject="the toy",
    title="toy",
    certain="The toy repeats it (q = 1).",
    lead="A <b>toy drafts</b> a few tokens.",
)


class ToyDrafter(Drafter, Proposer):
    """Has no state, so it is its own proposer."""

    info = DrafterInfo("toy", "toy")

    def begin(self, context: DraftContext) -> Proposer:
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        return Draft([token_ids[-1]] * count, None)


def load(name: str, target: LoadedModel, dtype: Dtype) -> None:
    return None


def fit(target: LoadedModel, loaded: object, settings: DecodeSettings) -> Drafter:
    return ToyDrafter()


@contextmanager
def registered() -> Iterator[None]:
    METHODS.append(TOY)
    try:
        yield
    finally:
        METHODS.remove(TOY)
