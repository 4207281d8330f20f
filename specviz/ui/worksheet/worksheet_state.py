"""The worksheet's values as the parameters of its address, and what it remembers of a visitor. No drawing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Self

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.links.page_link import DIGITS, PageLink, Params, expecting, expecting_one_of, one_of, real
from specviz.data.texts import page_texts
from specviz.measure.worksheet.model import (
    BATCHES,
    MOST_COST,
    MOST_OVERHEAD,
    MOST_TOKENS,
    MOST_VERIFICATION,
    WorksheetModel,
)
from specviz.measure.worksheet.serving import Production
from specviz.measure.worksheet.starts import WorksheetStart
from specviz.systems import ServingCounters, read_counters
from specviz.ui.shared.arrival import Arrival


def _read(text: str, _language: str) -> ServingCounters | str:
    """What a pasted text says, or why it cannot be used, in this language."""
    try:
        return read_counters(text)
    except InputError as error:
        return str(error)


@dataclass(slots=True)
class Worksheet:
    came: Arrival = field(default_factory=Arrival)
    linked: WorksheetStart | None = None  # the values of a link, where no other start has them
    produced: WorksheetStart | None = None  # pasted counters, once they were put on the map
    counted: Production | None = None  # what was read of them
    counted_text: str = ""  # the text in which they were read
    values: dict[str, Any] = field(default_factory=dict)  # what the widgets held when last drawn, by their keys
    runs: int = 0  # how many of the visitor's runs were finished then
    # once for each text: every message of the visitor draws the page again
    read: Callable[[str, str], ServingCounters | str] = field(default_factory=lambda: lru_cache(1)(_read))


SAYS = page_texts("worksheet")
LINKS = page_texts("links")
NUMBER = real(decimals=3)


def _within(least: float, most: float) -> Any:
    return expecting(lambda: LINKS["number"].format(least=least, most=most), ge=least, le=most)


def _whole(least: int, most: int) -> Any:
    return expecting(lambda: LINKS["whole"].format(least=least, most=most), ge=least, le=most)


class WorksheetLink(PageLink):
    """Every value of the worksheet; a page fills in what its address leaves out."""

    REFUSED: ClassVar[str] = "refused_value"

    alpha: Annotated[float, NUMBER, _within(0, 1)] = 0.0
    gamma: Annotated[int, DIGITS, _whole(1, MAX_DRAFT_LENGTH)] = 1
    c: Annotated[float, NUMBER, _within(0, MOST_COST)] = 0.0
    v: Annotated[float, NUMBER, _within(1, MOST_VERIFICATION)] = 1.0
    o: Annotated[float, NUMBER, _within(0, MOST_OVERHEAD)] = 0.0
    batch: Annotated[int, DIGITS, one_of(BATCHES), expecting_one_of(BATCHES)] = 1
    operations: Annotated[float, NUMBER, _within(0, 1)] = 0.0
    # of the cost of a pass over several texts
    shape: Annotated[int, DIGITS, expecting(lambda: LINKS["shape"], ge=0, le=1)] = 0
    drafted: Annotated[int, DIGITS, _whole(0, MOST_TOKENS)] = 0
    accepted: Annotated[int, DIGITS, _whole(0, MOST_TOKENS)] = 0
    # the draft length of the counts; 0: gamma, as in older links
    counted_at: Annotated[int, DIGITS, _whole(0, MAX_DRAFT_LENGTH)] = 0

    @classmethod
    def from_model(cls, model: WorksheetModel, drafted: int, accepted: int, counted_at: int = 0) -> Self:
        return cls.model_construct(  # a start may lie outside what a link can say
            alpha=round(model.alpha, 3),
            gamma=model.draft_length,
            c=round(model.cost_ratio, 3),
            v=round(model.verification, 3),
            o=round(model.overhead, 3),
            batch=model.batch,
            operations=round(model.operations_ratio, 3),
            shape=int(model.passes is not None),
            drafted=drafted,
            accepted=accepted,
            counted_at=counted_at,
        )


def start_from_link(params: Params, default: WorksheetStart) -> tuple[WorksheetStart | None, list[str]]:
    """What an address asks for, None where it names no value; the default stands in for what cannot be used."""
    if not any(params.get(name) for name in WorksheetLink.model_fields):
        return None, []
    counted = any(params.get(name) for name in ("drafted", "accepted"))  # in the link itself
    counted_at = 0 if counted else default.counted_at or default.model.draft_length
    held = WorksheetLink.from_model(default.model, default.drafted, default.accepted, counted_at)
    link, problems = WorksheetLink.read(params, held)
    passes = default.model.passes if link.shape else None
    model = WorksheetModel(link.alpha, link.gamma, link.c, link.v, link.o, link.batch, link.operations, passes=passes)
    counts = link.drafted, link.accepted
    start = WorksheetStart(
        SAYS["linked"], SAYS["linked_source"], model, *counts, counted_at=link.counted_at, costs_kind="told"
    )
    return start, problems
