"""The worksheet's values as the parameters of its address, and back. Pure."""

from typing import Annotated, ClassVar, Self

from pydantic import Field

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.page_link import DIGITS, PageLink, Params, one_of, real
from specviz.measure.worksheet.model import BATCHES, MOST_COST, MOST_OVERHEAD, MOST_TOKENS, MOST_VERIFICATION, Model
from specviz.measure.worksheet.starts import Start

LABEL = "the values in the link"
NUMBER = real(decimals=3)


class WorksheetLink(PageLink):
    """Every value of the worksheet; a page fills in what its address leaves out."""

    REFUSED: ClassVar[str] = "The link’s {name} is not {expected}: {instead}."

    alpha: Annotated[float, NUMBER, Field(ge=0, le=1, description="a number from 0 to 1")] = 0.0
    gamma: Annotated[
        int,
        DIGITS,
        Field(ge=1, le=MAX_DRAFT_LENGTH, description=f"a whole number from 1 to {MAX_DRAFT_LENGTH}"),
    ] = 1
    c: Annotated[float, NUMBER, Field(ge=0, le=MOST_COST, description=f"a number from 0 to {MOST_COST:g}")] = 0.0
    v: Annotated[
        float,
        NUMBER,
        Field(ge=1, le=MOST_VERIFICATION, description=f"a number from 1 to {MOST_VERIFICATION:g}"),
    ] = 1.0
    o: Annotated[float, NUMBER, Field(ge=0, le=MOST_OVERHEAD, description=f"a number from 0 to {MOST_OVERHEAD:g}")] = (
        0.0
    )
    batch: Annotated[int, DIGITS, one_of(BATCHES), Field(description=f"one of {', '.join(map(str, BATCHES))}")] = 1
    operations: Annotated[float, NUMBER, Field(ge=0, le=1, description="a number from 0 to 1")] = 0.0
    drafted: Annotated[
        int, DIGITS, Field(ge=0, le=MOST_TOKENS, description=f"a whole number from 0 to {MOST_TOKENS}")
    ] = 0
    accepted: Annotated[
        int, DIGITS, Field(ge=0, le=MOST_TOKENS, description=f"a whole number from 0 to {MOST_TOKENS}")
    ] = 0

    @classmethod
    def of(cls, model: Model, drafted: int, accepted: int) -> Self:
        """The link that leads back to these values."""
        return cls.model_construct(  # a start may lie outside what a link can say
            alpha=round(model.alpha, 3),
            gamma=model.draft_length,
            c=round(model.cost_ratio, 3),
            v=round(model.verification, 3),
            o=round(model.overhead, 3),
            batch=model.batch,
            operations=round(model.operations_ratio, 3),
            drafted=drafted,
            accepted=accepted,
        )

    @property
    def model(self) -> Model:
        """Acceptance, draft length and costs."""
        return Model(self.alpha, self.gamma, self.c, self.v, self.o, self.batch, self.operations)


def start_from_link(params: Params, default: Start) -> tuple[Start | None, list[str]]:
    """What an address asks for, and a line for each part of it that cannot be used: the default's value stands in.

    Args:
        params: the address's parameters, each with all its values; the last counts.
        default: what a missing or impossible value is taken from.

    Returns:
        None where the address names none of the worksheet's values.
    """
    if not any(params.get(name) for name in WorksheetLink.model_fields):
        return None, []
    link, problems = WorksheetLink.read(params, WorksheetLink.of(default.model, default.drafted, default.accepted))
    source = "Acceptance and costs as the link has them."
    return Start(LABEL, source, link.model, link.drafted, link.accepted), problems
