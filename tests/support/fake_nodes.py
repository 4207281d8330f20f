"""Nodes of a cluster that are plain objects: they answer at once, and as a test wants it."""

from collections import Counter, deque
from collections.abc import Callable

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.measure.sweep.plan import SweepCell, SweepPair
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.spread import NodeAnswer
from tests.support.fake_rows import a_row

Asked = tuple[str, SweepPair | list[SweepCell]]


class FakeNodes:
    """Answers in the order in which it was asked, but for what `say` changes. No node may do two things at once."""

    def __init__(self, *names: str, say: Callable[[str, int], NodeAnswer | None] = lambda node, number: None) -> None:
        self.names, self._say = names, say
        self._under_way = deque[Asked]()
        self.asked: list[Asked] = []

    def send(self, node: str, what: SweepPair | list[SweepCell]) -> None:
        assert node not in [name for name, _ in self._under_way], f"{node} was asked for two things at once"
        self._under_way.append((node, what))
        self.asked.append((node, what))

    def answer(self) -> tuple[str, NodeAnswer]:
        node, what = self._under_way.popleft()
        number = [name for name, _ in self.asked].count(node)
        if changed := self._say(node, number):
            return node, changed
        if isinstance(what, SweepPair):
            return node, made_by(node, what)
        return node, [row_of(node, cell) for cell in what]

    def measured_by(self, node: str) -> list[SweepCell]:
        return [cell for name, what in self.asked if name == node and isinstance(what, list) for cell in what]

    def loads(self) -> Counter[tuple[str, SweepPair]]:
        return Counter((name, what) for name, what in self.asked if isinstance(what, SweepPair))


def made_by(node: str, pair: SweepPair) -> tuple[str | int | None, ...]:
    draft = (pair.draft, "float32") if pair.draft != PROMPT_LOOKUP else ("prompt lookup", None)
    return pair.target, "float32", *draft, 1, f"machine of {node}"


def row_of(node: str, cell: SweepCell) -> SweepRow:
    _, _, draft, draft_dtype, _, machine = made_by(node, cell.pair)
    settings = cell.settings
    return a_row(
        draft=draft,
        draft_dtype=draft_dtype,
        machine=machine,
        preset=cell.prompt.name,
        text_hash=cell.prompt.text_hash,
        draft_length=settings.draft_length,
        temperature=settings.temperature,
        seed=settings.seed,
        node=node,
    )
