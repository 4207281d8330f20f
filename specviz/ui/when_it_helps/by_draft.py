"""By draft: one greedy output, and what each bundled draft and prompt lookup would have guessed along it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import inf
from time import monotonic

import streamlit as st

from specviz.core.drafters import PROMPT_LOOKUP, spoken
from specviz.core.judge import NEUTRAL, Judgement, judge
from specviz.core.metrics import Costs, Counts, count, estimated_at, speedup_at
from specviz.core.names import first_words
from specviz.core.replay import Prospect
from specviz.core.request import DEFAULT_TARGET, RunRequest
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.data.measured.quiet_costs import quiet_costs
from specviz.data.prompts import workloads
from specviz.data.texts import join_choices, page_texts
from specviz.figures.parts import COLORS, Figure, FigurePart, axis, figure, figure_text, intervals, level, look, scatter
from specviz.figures.sweep import describe_range
from specviz.measure.paired import calibration_seconds, show_rest
from specviz.models.catalogue import bundled_names, stepping_heads
from specviz.service.job import JobView
from specviz.service.protocol import GuessAlong
from specviz.ui.session import session
from specviz.ui.shared import parts
from specviz.ui.shared.engine import engine, limit_sentence, took
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.form import offered_presets
from specviz.ui.shared.job_slot import SHORT_SECONDS, JobSlot, show_progress, waiting_line

SAYS = page_texts("when_it_helps")
HEIGHT = 320
NEW_TOKENS = 64


@dataclass(slots=True)
class ByDraft:
    watched: RunRequest = field(default_factory=lambda: RunRequest(workloads.DEFAULT_PRESET.text))  # Watch's prompt
    preset: str = ""  # chosen here; empty: that of Watch
    slot: JobSlot = field(default_factory=lambda: JobSlot("by draft"))
    shown: str = ""  # the prompt that the prospects are of
    began: float = 0.0  # when the first was there, whose costs may have been known; by the monotonic clock

    @property
    def prospects(self) -> Sequence[Prospect]:
        return self.slot.view.items

    def start(self, prompt: str, drafts: list[str]) -> None:
        request = RunRequest(prompt, settings=DecodeSettings(max_new_tokens=NEW_TOKENS))
        self.slot.start(lambda job: GuessAlong(job, request, drafts))
        self.shown = prompt

    def refresh(self, patience: float = 0.0) -> bool:
        """Ask how far it is; whether something was found since."""
        before = len(self.prospects)
        self.slot.first_look(patience)
        if self.prospects and not before:
            self.began = monotonic()
        return len(self.prospects) > before


@dataclass(frozen=True, slots=True)
class Point:
    draft: str
    draft_length: int
    counts: Counts  # exact
    modelled: Judgement  # the speedup, with its interval over the repeats of the costs
    alike: bool  # about as fast as the fastest length, for all that these costs tell


def points_of(prospect: Prospect) -> list[Point]:
    """Every draft length. Another is as fast as the fastest one where the interval of their ratio reaches 1.05."""
    rounds = {length: prospect.replay(length) for length in range(1, MAX_DRAFT_LENGTH + 1)}
    none = judge(0.0, None, modelled=True)
    found = {length: estimated_at(its, prospect.costs) or none for length, its in rounds.items()}
    fastest = max(found, key=lambda length: found[length].speedup)

    def ratio(length: int, costs: Costs) -> float:
        own, best = (speedup_at(rounds[each], costs) or 0.0 for each in (length, fastest))
        return best / own if own else inf

    points = []
    for length, its in rounds.items():
        slower = prospect.costs.interval(partial(ratio, length))
        points.append(Point(prospect.draft, length, count(its), found[length], slower is None or slower[0] < NEUTRAL))
    return points


def best_of(points: Sequence[Point]) -> Point:
    """The point with the highest modelled speedup; of equal ones, the one with the shortest draft."""
    return max(points, key=lambda point: point.modelled.speedup)


def best_lengths(points: Sequence[Point]) -> range:
    """The draft lengths around the fastest one that are about as fast; empty where no interval is known."""
    best = best_of(points)
    if best.modelled.interval is None:
        return range(0)
    first = last = best.draft_length
    while first > 1 and points[first - 2].alike:
        first -= 1
    while last < len(points) and points[last].alike:
        last += 1
    return range(first, last + 1)


def lengths_in_words(points: Sequence[Point]) -> str:
    lengths = best_lengths(points)
    if not lengths:
        return SAYS["not_known"]
    return describe_range(lengths) if len(lengths) > 1 else str(lengths[0])


def drafts_figure(drafts: Sequence[Sequence[Point]], *, speedups: bool = False) -> Figure:
    """A line for each draft over the draft length: tokens per target call, or modelled speedups with intervals."""
    lines, hover = list[FigurePart](), SAYS["hover_modelled" if speedups else "hover_counted"]
    for number, points in enumerate(drafts):
        name, lengths = figure_text(spoken(points[0].draft)), [point.draft_length for point in points]
        values = [point.modelled.speedup if speedups else point.counts.tokens_per_target_call for point in points]
        line = scatter(name, lengths, values, f"{hover}<extra>{name}</extra>", **look(number, 7))
        if speedups:
            modelled = [point.modelled for point in points]
            line["error_y"] = intervals(modelled, COLORS[number], thickness=1, width=0)
        lines.append(line)
    x = axis(SAYS["axis_length"], range=[0.5, MAX_DRAFT_LENGTH + 0.5], dtick=3, tick0=1)
    y = axis(parts.COLUMNS["tokens per target call"], rangemode="tozero")
    if not speedups:
        return figure(lines, HEIGHT, x=x, y=y, showlegend=True)
    y = axis(SAYS["axis_modelled"], rangemode="tozero", ticksuffix="×")
    return figure(lines, HEIGHT, x=x, y=y, showlegend=True, **level(1, "1×", beside=True))


PART = "by_draft"  # the part of the page that grows with a comparison


def show_by_draft() -> None:
    state = session().of(ByDraft)

    @st.fragment(key=PART)
    def part() -> None:
        state.refresh(SHORT_SECONDS)
        parts.show_words(SAYS["by_draft"], "by-draft")
        with st.container(horizontal=True, vertical_alignment="bottom", key="fs_choice"):
            prompt = _prompt(state)
            if state.slot.busy:
                parts.button(SAYS["cancel"], "fs_cancel", state.slot.cancel, icon="close")
            else:
                parts.button(SAYS["compare_drafts"], "fs_start", state.start, prompt, drafts_to_compare())
        show_progress(state.slot, partial(_progress_line, state), state.refresh, PART)
        _draw(state)

    part()


def _prompt(state: ByDraft) -> str:
    """Draw the choice of a prompt, which begins with that of Watch, unless it is one for a chat model; its text."""
    request, preset = state.watched, workloads.preset_of(state.watched.prompt)
    names = offered_presets(DEFAULT_TARGET)
    names = [workloads.OWN_TEXT, *names] if preset == workloads.OWN_TEXT else names
    on_watch = preset if preset in names else names[0]
    shown = state.preset if state.preset in names else on_watch
    chosen: parts.Options = {"index": names.index(shown), "key": f"fs_preset-{shown}"}
    picked = st.selectbox(SAYS["prompt"], names, format_func=workloads.preset_label, **chosen)
    state.preset = "" if picked == on_watch else picked
    found = workloads.find_preset(picked)
    return found.text if found else request.prompt


def drafts_to_compare() -> list[str]:
    """Every bundled draft model, the smallest first, then the EAGLE head, then prompt lookup.

    Medusa is not among them: all its guesses share one pass, so a modelled cost a guess would be wrong.
    """
    models = [name for name in reversed(bundled_names()) if name != DEFAULT_TARGET]
    return [*models, *stepping_heads(DEFAULT_TARGET), PROMPT_LOOKUP]


def _draw(state: ByDraft) -> None:
    if state.slot.ended and not state.slot.busy:
        st.info(plain(state.slot.ended), icon=":material/info:")
    elif not state.prospects and not state.slot.busy:
        asked = [RunRequest("", DEFAULT_TARGET, draft) for draft in drafts_to_compare()]
        known = [*filter(None, map(engine().known_costs, asked))]
        recorded = [each.drafts.values() for each in quiet_costs().machines if each.target == DEFAULT_TARGET]
        costs = known or [*chain(*recorded)]
        seconds = len(asked) * max(map(calibration_seconds, costs)) if costs else None
        st.info(SAYS["drafts_size"].format(took=took(seconds, bool(known)), limit=limit_sentence(seconds)))
    if not state.prospects:
        return
    drafts = [points_of(prospect) for prospect in state.prospects]
    st.caption(SAYS["of_prompt"].format(prompt=plain(first_words(state.shown, workloads.SHOWN_CHARACTERS))))
    if not state.slot.busy:
        st.markdown(f"**{reading(drafts)}**")
    parts.two_charts(
        (drafts_figure(drafts), "fs_tokens", SAYS["replayed"]),
        (drafts_figure(drafts, speedups=True), "fs_speedups", _modelled_with(state.prospects)),
    )
    rows = [
        {
            "draft": spoken(prospect.draft),
            "right guesses": SAYS["right_of"].format(right=matches.count(True), all=len(matches)),
            "best γ": lengths_in_words(points),
            "speedup (modelled)": best.modelled.shown,
            "tokens per target call (exact)": best.counts.tokens_per_target_call,
            "accepted / drafted": None if (rate := best.counts.acceptance_rate) is None else 100 * rate,
            "c, a draft step": prospect.costs.cost_ratio,
            "its guesses took": 1000 * prospect.draft_guesses.seconds,
        }
        for prospect, points in zip(state.prospects, drafts, strict=True)
        for best in [best_of(points)]
        for matches in [prospect.draft_guesses.matches()]
    ]
    columns = parts.texts("right guesses", "best γ", "speedup (modelled)")
    columns |= parts.numbers("%.2f", "tokens per target call (exact)", "c, a draft step")
    columns |= parts.numbers("%.0f ms", "its guesses took") | parts.numbers(parts.PERCENT, "accepted / drafted")
    parts.data_table(rows, "fs_table", columns=columns)


def _modelled_with(prospects: Sequence[Prospect]) -> str:
    """Whose costs are not this machine's, because it was too busy to be calibrated."""
    found = [prospect for prospect in prospects if prospect.costs_of]
    if not found:
        return SAYS["modelled_here"]
    drafts, places = ([*dict.fromkeys(names)] for names in zip(*((p.draft, p.costs_of) for p in found), strict=True))
    quiet = join_choices(places, "and")
    return SAYS["modelled_elsewhere"].format(drafts=join_choices([*map(spoken, drafts)], "and"), places=quiet)


def _progress_line(state: ByDraft, view: JobView) -> str:
    if line := waiting_line(view):
        return line
    if (progress := view.progress) is None:
        return SAYS["starting"]
    left = show_rest(state.began, progress.done - 1, progress.total - 1)
    return SAYS["progress_drafts"].format(progress=progress, left=left, draft=spoken(progress.draft))


def reading(drafts: Sequence[Sequence[Point]]) -> str:
    """Which draft would pay most on this text, and at which draft lengths.

    Drafts within 5 % of it, and those whose intervals meet its own, are as fast for all that these costs can tell.
    """
    winner, *others = sorted(drafts, key=lambda points: -best_of(points).modelled.speedup)
    best = best_of(winner)
    interval = best.modelled.interval
    figures = {"draft": spoken(best.draft), "best": best}
    reach = SAYS["drafts_reach"].format(**figures)
    if interval is None:
        return f"{SAYS['drafts_unsure']} {reach}"
    if interval[0] <= 1 < interval[1]:
        return f"{SAYS['drafts_untold']} {reach}"
    if best.modelled.label != "helps":
        return f"{SAYS['drafts_none']} {reach}"

    def meets(other: Point) -> bool:
        within = other.modelled.speedup * NEUTRAL >= best.modelled.speedup
        return within or (other.modelled.interval or (0, inf))[1] >= interval[0]

    near = [f"{spoken(each.draft)} {each.modelled.shown}" for each in map(best_of, others) if meets(each)]
    lengths = lengths_in_words(winner)
    if len(best_lengths(winner)) > 1:
        lengths = SAYS["about_the_same"].format(lengths=lengths)
    helps = SAYS["drafts_best"].format(**figures, lengths=lengths, tried=sum(map(len, drafts)))
    return f"{helps} {SAYS['too_close'].format(names=', '.join(near))}" if near else helps
