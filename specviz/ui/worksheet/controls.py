"""The worksheet's controls: counts, α, γ and costs in, a Model out; saved in the address and between pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from specviz.core.numbers import localize
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.texts import page_texts
from specviz.measure.worksheet import model as terms
from specviz.measure.worksheet.serving import Production
from specviz.measure.worksheet.starts import CostsOrigin, WorksheetStart
from specviz.ui.shared.address import address, write_address
from specviz.ui.shared.below_streamlit import DeltaGenerator
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import notices
from specviz.ui.shared.persistent_widgets import bind_index, bind_value, set_widgets
from specviz.ui.worksheet.worksheet_state import Worksheet, WorksheetLink, start_from_link

SAYS = page_texts("worksheet")

# The controls of a model's terms, in the order of its fields.
TERMS = ["alpha", "gamma", "cost", "verification", "overhead", "batch", "operations"]
UNSET = ("worksheet_speedup",)  # empty until a visitor fills it in
COUNTS = ("drafted", "accepted", "counted_at")
COST_KEYS = ("worksheet_cost", "worksheet_overhead")
KEYS = [*(f"worksheet_{name}" for name in ("start", *TERMS, *COUNTS, "paste")), *UNSET]
_three_places = partial(localize, spec=".3f")
WRITTEN: dict[str, Callable[[float], str]] = {  # how the first view writes the value of a term
    "alpha": lambda value: f"{localize(100 * value, '.1f')} %",
    "gamma": str,
    "cost": _three_places,
    "verification": _three_places,
    "overhead": _three_places,
    "batch": str,
}
LIMITS = {"alpha": (0.0, 1.0), "cost": (0.0, terms.MOST_COST), "verification": (1.0, terms.MOST_VERIFICATION)}
LIMITS |= {"overhead": (0.0, terms.MOST_OVERHEAD), "operations": (0.0, 1.0)}


def controls(worksheet: Worksheet, found: Sequence[WorksheetStart], runs: int) -> terms.WorksheetModel:
    """Draw those of the first view, and read all of them; `runs` are finished, and a new one is taken up."""
    found = _restore(worksheet, found, runs)
    if any(st.session_state[key] != value for key, value in worksheet.values.items()):
        worksheet.came.change()
    notices(worksheet.came.notes)
    labels, taken = [start.label for start in found], lambda: fill(chosen_start(worksheet, found))
    chosen = bind_index("worksheet_start", labels)
    st.selectbox(SAYS["start_from"], labels, on_change=taken, help=SAYS["start_help"], **chosen)
    start = chosen_start(worksheet, found)
    st.caption(plain(start.source))

    def other_length() -> None:
        """It checks another number of tokens: v is then what the model had for that number before."""
        now = model_now(worksheet, start)
        before = replace(now, draft_length=worksheet.values["worksheet_gamma"])
        before = replace(before, checks=_checks(before, start), batch=1, passes=None)
        set_widgets(_within(verification=before.steps(now.draft_length + 1)))

    _fine(st, "alpha", format="percent")
    more = bind_value("worksheet_gamma") | {"on_change": other_length}
    st.slider(SAYS["gamma"], 1, MAX_DRAFT_LENGTH, **more)
    _fine(st, "cost")
    _fine(st, "verification")
    st.caption(SAYS["unit"])
    worksheet.values, worksheet.runs = {key: st.session_state[key] for key in KEYS}, runs
    model = model_now(worksheet, start)
    write_address(
        WorksheetLink.from_model(model, *(worksheet.values[f"worksheet_{name}"] for name in COUNTS)).parameters()
    )
    return model


def more_controls() -> None:
    def counted() -> None:
        state = st.session_state
        state.update(worksheet_counted_at=state.worksheet_gamma)
        if 0 <= state.worksheet_accepted <= state.worksheet_drafted and state.worksheet_drafted:
            alpha = terms.alpha_of_counts(state.worksheet_drafted, state.worksheet_accepted, state.worksheet_gamma)
            state.update(_within(alpha=alpha))

    for place, name in zip(_side_by_side("worksheet_drafted_accepted"), ("drafted", "accepted"), strict=True):
        more = bind_value(f"worksheet_{name}") | {"on_change": counted, "help": SAYS["drafted_help"]}
        place.number_input(SAYS[name], 0, terms.MOST_TOKENS, **more)
    overhead, batch = _side_by_side("worksheet_overhead_batch")
    _fine(overhead, "overhead")
    batch.select_slider(SAYS["batch"], terms.BATCHES, help=SAYS["batch_help"], **bind_value("worksheet_batch"))
    _fine(st, "operations")


def read_model() -> terms.WorksheetModel:
    return terms.WorksheetModel(*(st.session_state[f"worksheet_{name}"] for name in TERMS))


def model_now(worksheet: Worksheet, start: WorksheetStart) -> terms.WorksheetModel:
    """What the controls say, with what no control shows: positions that were counted, and passes that were measured."""
    produced, state = worksheet.produced, st.session_state
    same = produced and (state.worksheet_drafted, state.worksheet_accepted) == (produced.drafted, produced.accepted)
    survival: tuple[float, ...] = ()
    if produced and same and abs(state.worksheet_alpha - produced.model.alpha) < 0.0005:
        survival = produced.model.survival
    model, block = read_model(), bool(produced and same and produced.model.block)
    return replace(model, survival=survival, passes=start.model.passes, block=block, checks=_checks(model, start))


def _checks(model: terms.WorksheetModel, start: WorksheetStart) -> Mapping[int, float]:
    """The measured cost of checks, where the slider has the one for its draft length and not another one by hand."""
    measured = start.verification_at(model.draft_length)
    if measured is None or abs(_within(verification=measured)["worksheet_verification"] - model.verification) > 0.0005:
        return {}
    return start.verification


def costs_named(start: WorksheetStart) -> CostsOrigin:
    if start.acceptance_only:
        return CostsOrigin(SAYS["costs_of_sliders"])
    changed = any(not _is_near(key, value) for key, value in _filled(start).items() if key in COST_KEYS)
    return CostsOrigin(SAYS["costs_by_hand"], "told") if changed else start.named_costs


def counters_alone(worksheet: Worksheet, start: WorksheetStart) -> Production | None:
    """The pasted counters that the page starts from, where no cost of a round is known for their machine."""
    found = worksheet.counted if start is worksheet.produced and not changes(start) else None
    told = found is not None and (found.speedup is not None or costs_named(start).are_told)
    return None if told else found


def chosen_start(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> WorksheetStart:
    chosen = (start for start in _every(worksheet, found) if start.label == st.session_state.worksheet_start)
    return next(chosen, found[0])


def _every(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> list[WorksheetStart]:
    """These and what the visitor brought: pasted counters, a link's values."""
    brought = filter(None, (worksheet.produced, worksheet.linked))
    return [*found, *(start for start in brought if start.label not in [each.label for each in found])]


def fill(start: WorksheetStart) -> None:
    set_widgets({"worksheet_start": start.label, **_filled(start)})


def _filled(start: WorksheetStart) -> dict[str, float]:
    model = start.model
    if start.costs_only:
        gamma = st.session_state.worksheet_gamma
        checked = start.verification_at(gamma) or replace(model, batch=1).steps(gamma + 1)
        return _within(cost=model.cost_ratio, verification=checked, overhead=model.overhead)
    length = min(max(model.draft_length, 1), MAX_DRAFT_LENGTH)
    acceptance = {
        "worksheet_alpha": round(min(max(model.alpha, 0.0), 1.0), 5),  # the speedup beside it has none rounded
        "worksheet_gamma": length,
        "worksheet_drafted": start.drafted,
        "worksheet_accepted": start.accepted,
        "worksheet_counted_at": start.counted_at or length,
    }
    if start.acceptance_only:
        checked = replace(read_model(), batch=1).steps(model.draft_length + 1)
        return acceptance | _within(verification=checked)
    batch = {"worksheet_batch": min(terms.BATCHES, key=lambda size: abs(size - model.batch))}
    costs = {"cost": model.cost_ratio, "verification": model.verification, "overhead": model.overhead}
    return acceptance | batch | _within(**costs, operations=model.operations_ratio)


def add_to_map(worksheet: Worksheet, start: WorksheetStart, found: Production) -> None:
    worksheet.produced, worksheet.counted = start, found
    fill(start)


def remove_from_map(worksheet: Worksheet, found: Sequence[WorksheetStart]) -> None:
    """The page starts from pasted counters no longer, but from what their costs are of."""
    gone, worksheet.produced, worksheet.counted, worksheet.counted_text = worksheet.produced, None, None, ""
    if gone and st.session_state.worksheet_start == gone.label:
        before = (start for start in _every(worksheet, found) if start.label == gone.named_costs.name)
        fill(next(before, found[0]))


def is_shown(start: WorksheetStart) -> bool:
    """Whether the controls hold what this start fills in, as near as the sliders' steps allow."""
    return all(_is_near(key, value) for key, value in _filled(start).items())


def _is_near(key: str, value: float) -> bool:
    return bool(abs(st.session_state[key] - value) < 0.005)


def changes(start: WorksheetStart) -> list[str]:
    """What the controls say now where this start filled in something else: "draft length 10 instead of 4"."""
    loaded = _filled(start)
    return [
        SAYS["changed"].format(what=SAYS[term], now=said(st.session_state[key]), loaded=said(loaded[key]))
        for term, said in WRITTEN.items()
        if (key := f"worksheet_{term}") in loaded and not _is_near(key, loaded[key])
    ]


def _fine(place: Any, name: str, format: str = "localized") -> None:
    more = bind_value(f"worksheet_{name}") | {"step": 0.001, "format": format, "help": SAYS[f"{name}_help"]}
    place.slider(SAYS[name], *LIMITS[name], **more)


def _side_by_side(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two places beside each other, on a phone too, where columns would go one below the other."""
    with st.container(horizontal=True, gap="medium", key=key):
        return st.container(width="stretch"), st.container(width="stretch")


def _within(**values: float) -> dict[str, float]:
    """What the sliders of these names can show of these values."""
    held = {name: min(max(value, LIMITS[name][0]), LIMITS[name][1]) for name, value in values.items()}
    return {f"worksheet_{name}": round(value, 3) for name, value in held.items()}


def _restore(worksheet: Worksheet, found: Sequence[WorksheetStart], runs: int) -> list[WorksheetStart]:
    """Take a link's values once; bring back what was there before another page, or take up the newest run.

    Returns everything to start from, what the link says among it.
    """
    state, first = st.session_state, not worksheet.came.read
    if first:
        _fill_first(found, {})
        counts = {name: state[f"worksheet_{name}"] for name in COUNTS}
        passes = next((start.model.passes for start in found if start.model.passes), None)
        default = replace(found[0], model=replace(read_model(), passes=passes), **counts)
        linked = worksheet.came.read_once(address(), lambda given: start_from_link(given, default))
        # as one of the starts, where it is just what that fills in
        alike = (start for start in found if linked and _filled(start) == _filled(linked))
        worksheet.linked = next(alike, linked)
    every, stored = _every(worksheet, found), worksheet.values
    labels = [start.label for start in every]
    if not first and all(key in state for key in KEYS):  # a forged message may have left some out
        if state.get("worksheet_start") not in labels:  # also in another language
            fill(next(filter(is_shown, every), found[0]))
    elif stored and worksheet.runs == runs and stored["worksheet_start"] in labels:
        set_widgets(stored)
    else:
        _fill_first([worksheet.linked] if first and worksheet.linked else found, stored)
        state.worksheet_paste = stored.get("worksheet_paste", "")
        for key in UNSET:
            state[key] = stored.get(key)
    return every


def _fill_first(found: Sequence[WorksheetStart], stored: dict[str, Any]) -> None:
    """Set the controls to the first start; what it does not say is as it was, or as the first one has it that does."""
    if found[0].acceptance_only and stored:
        set_widgets(stored)
    elif found[0].acceptance_only:
        fill(next(start for start in found if not start.acceptance_only and not start.costs_only))
    fill(found[0])
