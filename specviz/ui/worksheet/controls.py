"""The worksheet's controls: counts, α, γ and costs in, a Model out; saved in the address and between pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import streamlit as st
from pydantic import Field

from specviz.core.errors import InputError
from specviz.core.numbers import localize, percent
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.links.page_link import DIGITS, PageLink, Params, expecting, expecting_one_of, one_of, real, within
from specviz.data.texts import page_texts
from specviz.measure.worksheet import model as terms
from specviz.measure.worksheet.serving import Production
from specviz.measure.worksheet.starts import TOLD, CostsOrigin, WorksheetStart
from specviz.systems import Counts, read_counters
from specviz.ui.shared.below_streamlit import DeltaGenerator
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import Form
from specviz.ui.shared.parts import notices
from specviz.ui.shared.persistent_widgets import Widget


def _read(text: str, _language: str) -> Counts | str:
    """What a pasted text says, or why it cannot be used, in this language."""
    try:
        return read_counters(text)
    except InputError as error:
        return str(error)


@dataclass(slots=True)
class Worksheet:
    linked: WorksheetStart | None = None  # the values of a link, where no other start has them
    produced: WorksheetStart | None = None  # pasted counters, once they were put on the map
    counted: Production | None = None  # what was read of them
    counted_text: str = ""  # the text in which they were read
    runs: int = 0  # how many of the visitor's runs were finished when the controls were last drawn
    # once for each text: every message of the visitor draws the page again
    read: Callable[[str, str], Counts | str] = field(default_factory=lambda: lru_cache(1)(_read))


SAYS = page_texts("worksheet")
NUMBER, SLIDER, COUNTED = real(decimals=3), Widget("slider"), Widget("number_input")
LIMITS = {"cost": terms.MOST_COST, "verification": terms.MOST_VERIFICATION, "overhead": terms.MOST_OVERHEAD}
TYPED: Any = Field(exclude=True)  # what no link has


class WorksheetLink(PageLink):
    """Every value of the worksheet; a page fills in what its address leaves out."""

    REFUSED: ClassVar[str] = "refused_value"

    alpha: Annotated[float, NUMBER, within(0.0, 1.0), SLIDER] = 0.0
    gamma: Annotated[int, DIGITS, within(1, MAX_DRAFT_LENGTH, "whole"), SLIDER] = 1
    cost: Annotated[float, NUMBER, within(0.0, LIMITS["cost"]), SLIDER, Field(validation_alias="c")] = 0.0
    verification: Annotated[float, NUMBER, within(1.0, LIMITS["verification"]), SLIDER, Field(validation_alias="v")] = (
        1.0
    )
    overhead: Annotated[float, NUMBER, within(0.0, LIMITS["overhead"]), SLIDER, Field(validation_alias="o")] = 0.0
    batch: Annotated[int, DIGITS, one_of(terms.BATCHES), expecting_one_of(terms.BATCHES), Widget("select_slider")] = 1
    operations: Annotated[float, NUMBER, within(0.0, 1.0), SLIDER] = 0.0
    # of the cost of a pass over several texts
    shape: Annotated[int, DIGITS, expecting(lambda: page_texts("links")["shape"], ge=0, le=1)] = 0
    drafted: Annotated[int, DIGITS, within(0, terms.MOST_TOKENS, "whole"), COUNTED] = 0
    accepted: Annotated[int, DIGITS, within(0, terms.MOST_TOKENS, "whole"), COUNTED] = 0
    # the draft length of the counts; 0: gamma, as in older links
    counted_at: Annotated[int, DIGITS, within(0, MAX_DRAFT_LENGTH, "whole")] = 0
    start: Annotated[str, TYPED, Widget("selectbox", "start_from")] = ""
    paste: Annotated[str, TYPED, Widget("text_area", "paste_label")] = ""
    speedup: Annotated[float | None, TYPED] = None

    @property
    def model(self) -> terms.WorksheetModel:
        costs = self.cost, self.verification, self.overhead
        return terms.WorksheetModel(self.alpha, self.gamma, *costs, self.batch, self.operations)


FORM = Form("worksheet", WorksheetLink())
COST_TERMS = {"cost", "overhead"}
WRITTEN = ("alpha", "gamma", "cost", "verification", "overhead", "batch")  # the terms of the first view


def start_from_link(
    params: Params, default: WorksheetLink, passes: terms.MeasuredPasses | None = None
) -> tuple[WorksheetStart | None, list[str]]:
    """What an address asks for, None where it names no value; the default stands in for what cannot be used."""
    if not any(params.get(name) for name in WorksheetLink.linked().values()):
        return None, []
    if any(params.get(name) for name in ("drafted", "accepted")):  # the link's own counts, at its own length
        default = default.model_copy(update={"counted_at": 0})
    link, problems = WorksheetLink.read(params, default)
    model = replace(link.model, passes=passes if link.shape else None)
    counts: dict[str, Any] = {"drafted": link.drafted, "accepted": link.accepted, "counted_at": link.counted_at}
    return WorksheetStart(SAYS["linked"], SAYS["linked_source"], model, **counts, costs_from=TOLD), problems


def controls(worksheet: Worksheet, found: Sequence[WorksheetStart], runs: int) -> terms.WorksheetModel:
    """Draw those of the first view, and read all of them; `runs` are finished, and a new one is taken up."""
    found = _open(worksheet, found, runs)
    notices(FORM.came.notes)
    FORM.draw(
        "start", [start.label for start in found], on_change=lambda: _choose(worksheet, chosen_start(worksheet, found))
    )
    start = chosen_start(worksheet, found)
    st.caption(plain(start.source))

    def other_length() -> None:
        """It checks another number of tokens: v is then what the model had for that number before."""
        length = FORM.asked.gamma  # when they were last read
        now = model_now(worksheet, start)
        before = replace(now, draft_length=length)
        before = replace(before, checks=_checks(before, start), batch=1, passes=None)
        FORM.set(**_within(verification=before.steps(now.draft_length + 1)))

    _fine("alpha", format="percent")
    FORM.draw("gamma", on_change=other_length)
    _fine("cost", "verification")
    st.caption(SAYS["unit"])
    worksheet.runs = runs
    return model_now(worksheet, start)


def more_controls() -> None:
    def counted() -> None:
        asked = FORM.read()
        FORM.set(counted_at=asked.gamma)
        if 0 <= asked.accepted <= asked.drafted and asked.drafted:
            FORM.set(**_within(alpha=terms.alpha_of_counts(asked.drafted, asked.accepted, asked.gamma)))

    for place, name in zip(_side_by_side("worksheet_drafted_accepted"), ("drafted", "accepted"), strict=True):
        with place:
            FORM.draw(name, on_change=counted, help=SAYS["drafted_help"])
    overhead, batch = _side_by_side("worksheet_overhead_batch")
    with overhead:
        _fine("overhead")
    with batch:
        FORM.draw("batch", terms.BATCHES)
    _fine("operations")


def model_now(worksheet: Worksheet, start: WorksheetStart) -> terms.WorksheetModel:
    """What the controls say, with what no control shows: positions that were counted, and passes that were measured."""
    produced, asked = worksheet.produced, FORM.read()
    model = replace(asked.model, passes=start.model.passes, checks=_checks(asked.model, start))
    if produced is None or (asked.drafted, asked.accepted) != (produced.drafted, produced.accepted):
        return model
    survival = produced.model.survival if abs(asked.alpha - produced.model.alpha) < 0.0005 else ()
    return replace(model, survival=survival, block=produced.model.block)


def _checks(model: terms.WorksheetModel, start: WorksheetStart) -> Mapping[int, float]:
    """The measured cost of checks, where the slider has the one for its draft length and not another one by hand."""
    measured = start.verification_at(model.draft_length)
    if measured is None or abs(_within(verification=measured)["verification"] - model.verification) > 0.0005:
        return {}
    return start.verification


def costs_named(start: WorksheetStart) -> CostsOrigin:
    if start.acceptance_only:
        return CostsOrigin(SAYS["costs_of_sliders"])
    changed = COST_TERMS & _moved(start).keys()
    return CostsOrigin(SAYS["costs_by_hand"], are_told=True) if changed else start.named_costs


def counters_alone(worksheet: Worksheet, start: WorksheetStart) -> Production | None:
    """The pasted counters that the verdict is of: no cost of a round is known for their machine, or the map has none.

    What the visitor then changes or chooses is what the verdict is of.
    """
    found = worksheet.counted if worksheet.produced in (start, None) and not changes(start) else None
    told = found is not None and found.speedup is None and costs_named(start).are_told
    return None if told else found


def chosen_start(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> WorksheetStart:
    label = FORM.read().start
    return next((start for start in _every(worksheet, found) if start.label == label), found[0])


def _every(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> list[WorksheetStart]:
    """These and what the visitor brought: pasted counters, a link's values."""
    brought = filter(None, (worksheet.produced, worksheet.linked))
    return [*found, *(start for start in brought if start.label not in [each.label for each in found])]


def _choose(worksheet: Worksheet, start: WorksheetStart) -> None:
    """The verdict is of this start, and no longer of counters that the map has not."""
    if worksheet.produced is None:
        worksheet.counted = None
    fill(start)


def fill(start: WorksheetStart) -> None:
    FORM.take(_taken(start, FORM.read()))


def _taken(start: WorksheetStart, asked: WorksheetLink) -> WorksheetLink:
    chosen = {"start": start.label, "shape": int(start.model.passes is not None)}
    return asked.model_copy(update=chosen | _filled(start, asked))


def _filled(start: WorksheetStart, asked: WorksheetLink) -> dict[str, float]:
    model, filled, check = start.model, dict[str, float](), start.model.verification
    if not start.costs_only:
        length = min(max(model.draft_length, 1), MAX_DRAFT_LENGTH)
        filled |= {"alpha": round(min(max(model.alpha, 0.0), 1.0), 5)}  # the speedup beside it has none rounded
        filled |= {"gamma": length, "drafted": start.drafted, "accepted": start.accepted}
        filled |= {"counted_at": start.counted_at or length}
    if start.costs_only:
        check = start.verification_at(asked.gamma) or replace(model, batch=1).steps(asked.gamma + 1)
    elif start.acceptance_only:
        check = replace(asked.model, batch=1).steps(model.draft_length + 1)
    else:
        filled |= {"batch": min(terms.BATCHES, key=lambda size: abs(size - model.batch))}
        filled |= _within(operations=model.operations_ratio)
    if not start.acceptance_only:
        filled |= _within(cost=model.cost_ratio, overhead=model.overhead)
    return filled | _within(verification=check)


def add_to_map(worksheet: Worksheet, start: WorksheetStart, found: Production) -> None:
    worksheet.produced, worksheet.counted = start, found
    fill(start)


def remove_from_map(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> None:
    """The page starts from pasted counters no longer, but from what their costs are of."""
    gone, worksheet.produced, worksheet.counted, worksheet.counted_text = worksheet.produced, None, None, ""
    if gone and FORM.read().start == gone.label:
        before = (start for start in _every(worksheet, found) if start.label == gone.named_costs.name)
        fill(next(before, found[0]))


def is_shown(start: WorksheetStart) -> bool:
    """Whether the controls hold what this start fills in, as near as the sliders' steps allow."""
    return not _moved(start)


def _moved(start: WorksheetStart) -> dict[str, float]:
    """What this start fills in where the controls hold something else now."""
    filled = _filled(start, FORM.asked).items()
    return {name: value for name, value in filled if abs(getattr(FORM.asked, name) - value) >= 0.005}


def changes(start: WorksheetStart) -> list[str]:
    """What the controls say now where this start filled in something else: "draft length 10 instead of 4"."""

    def said(term: str, value: float) -> str:
        if term == "alpha":
            return percent(value, ".1f")
        return str(value) if term in ("gamma", "batch") else localize(value, ".3f")

    loaded, now = _moved(start), FORM.asked
    return [
        SAYS["changed"].format(what=SAYS[term], now=said(term, getattr(now, term)), loaded=said(term, loaded[term]))
        for term in WRITTEN
        if term in loaded
    ]


def _fine(*names: str, format: str = "localized") -> None:
    for name in names:
        FORM.draw(name, step=0.001, format=format)


def _side_by_side(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two places beside each other, on a phone too, where columns would go one below the other."""
    with st.container(horizontal=True, gap="medium", key=key):
        return st.container(width="stretch"), st.container(width="stretch")


def _within(**values: float) -> dict[str, float]:
    """What the sliders of these names can show of these values."""
    limits = {name: FORM.limits(name) for name in values}
    return {name: round(min(max(value, limits[name][0]), limits[name][1]), 3) for name, value in values.items()}


def _open(worksheet: Worksheet, found: Sequence[WorksheetStart], runs: int) -> list[WorksheetStart]:
    """Take a link's values once; bring back what was there before another page, or take up the newest run.

    Returns everything to start from, what the link says among it.
    """

    def read(given: Params) -> tuple[WorksheetLink, list[str]]:
        asked = FORM.start
        if found[0].acceptance_only:  # the first that says more of costs
            asked = _taken(next(start for start in found if not start.acceptance_only and not start.costs_only), asked)
        asked = _taken(found[0], asked)
        passes = next((start.model.passes for start in found if start.model.passes), None)
        default = asked.model_copy(update={"shape": int(passes is not None)})
        linked, problems = start_from_link(given, default, passes)
        # as one of the starts, where it is just what that fills in
        alike = (start for start in found if linked and _filled(start, asked) == _filled(linked, asked))
        worksheet.linked = next(alike, linked)
        return _taken(worksheet.linked, asked) if worksheet.linked else asked, problems

    first, asked = not FORM.came.read, FORM.open(read)
    every = _every(worksheet, found)
    if not first and worksheet.runs != runs:
        _choose(worksheet, found[0])
    elif asked.start not in [start.label for start in every]:  # also in another language
        fill(next(filter(is_shown, every), found[0]))
    return every
