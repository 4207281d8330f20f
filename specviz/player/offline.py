"""What the stage plays with no network and no server: a run or a lesson as one HTML file, a run in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TypedDict, cast

from specviz.core.drafters import method_of
from specviz.core.errors import InputError
from specviz.core.metrics import Costs, count
from specviz.core.names import forward_in_words, short_name
from specviz.core.numbers import localize
from specviz.core.operator_settings import operator_setting
from specviz.core.replay import DraftGuesses
from specviz.core.settings import facts as facts_of
from specviz.core.texts import fill, join_choices
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts, explain_no_result, verdict_of_run
from specviz.data.lessons.plans import LessonPlan, Moment
from specviz.data.lessons.story import Question
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from specviz.data.texts import asset, page_texts
from specviz.measure.paired import Comparison
from specviz.player.data import stage_data
from specviz.player.html_file import SCHEMES, Scheme, html_file, inline_json, program
from specviz.player.payload import SentRun, SentStage, StageState
from specviz.player.sheet import other_page

STYLES = ("stage/stage.css", "stage/tree.css", "stage/diagram.css", "offline/page.css", "stage/paper.css")
SAYS = page_texts("offline")
SHARED = page_texts("shared")


def offline_page(
    trace: Trace,
    *,
    plain_text: str | None = None,
    guesses: DraftGuesses | None = None,
    costs: Costs | None = None,
    address: str | None = None,
    repeats: Comparison | None = None,
    scheme: Scheme = "auto",
) -> str:
    """The HTML of a page that plays a finished run.

    Args:
        plain_text: what the target alone wrote, where it is known; a trace holds only its token ids.
        guesses: of its own draft, so that the page can show the run at other draft lengths.
        costs: what the pair costs on the machine of the run, for the verdict's reason and for speedups there.
        address: an http address where the same run can be opened live.
        repeats: the timed repeats that the run is one of; the run of the target alone and the verdict are then theirs.

    Raises:
        InputError: the run has not ended, or the page would be larger than 2 MB.
    """
    if trace.output.stopped_by is None:
        raise InputError(SAYS["not_ended"])
    if repeats:
        trace = replace(trace, autoregressive=repeats.plain.autoregressive)
    alone, written = trace.drafter is None, {}
    written[SHARED["target_wrote" if alone else "speculative_wrote"]] = trace.output.text
    if plain_text is not None:
        written[SHARED["target_wrote"]] = plain_text
    parts = {
        "title": _title(trace, SAYS["run_title_alone" if alone else "run_title"]),
        "lead": SAYS["lead"].format(drafts=method_of(trace.drafter.kind).here.lead)
        if trace.drafter
        else SAYS["lead_alone"],
        "result": result_lines(trace, costs, repeats),
        "trace": trace,
        "same": compare_texts(trace) if trace.drafter and trace.autoregressive else "",
        "written": written,
        "settings": _settings(trace),
        "address": address if address and address.startswith(("https://", "http://")) else None,
        "run": inline_json(_recorded(trace, "offline", guesses, costs)),
    }
    return _page("page", "player", parts, STYLES, scheme)


def _page(body: str, script: str, parts: dict[str, object], styles: tuple[str, ...], scheme: Scheme = "auto") -> str:
    both = {
        "say": SAYS,
        "footer": SAYS["made_with"].format(project=SAYS["project"]),
        "stage": asset("stage/stage.html"),
        "script": program(f"offline/{script}"),
        "style": "\n".join(map(asset, styles)),
    }
    return html_file(f"offline/{body}.html", parts | both, scheme)


def _title(trace: Trace, title: str) -> str:
    drafter = short_name(trace.drafter.name) if trace.drafter else ""
    return title.format(target=short_name(trace.target.name), drafter=drafter)


def _recorded(trace: Trace, run_id: str, guesses: DraftGuesses | None, costs: Costs | None = None) -> SentStage:
    data = stage_data(trace, run_id=run_id, source="recorded", running=False, guesses=guesses, costs=costs)
    if guesses is None and trace.settings.tree is None:  # a file cannot run another length; a tree's trace says why
        data["why_not"] = SAYS["one_length"]
    return data


def result_lines(trace: Trace, costs: Costs | None = None, repeats: Comparison | None = None) -> list[str]:
    """What was counted and what was timed, as HTML."""
    counts, lines = count(trace.rounds), []
    if counts.tokens_per_target_call is not None and counts.drafted:
        judged = counts.accepted + counts.rejected
        tokens = counts.tokens_per_target_call
        lines.append(SAYS["counted"].format(tokens=tokens, accepted=counts.accepted, judged=judged))
    verdict = repeats.verdict if repeats else verdict_of_run(trace, costs)
    if verdict:
        pairs = len(repeats.ratios) if repeats else 1
        timed = SAYS["timed_pairs" if pairs > 1 else "timed_once"]
        low, high = verdict.interval or (0.0, 0.0)
        known = {"headline": verdict.headline, "reason": verdict.reason, "low": low, "high": high}
        said = SAYS["verdict_repeats" if repeats and verdict.interval else "verdict"].format(**known)
        lines.append(timed.format(count=pairs, machine=escape(trace.recorded_on.machine), verdict=escape(said)))
    else:
        lines.append(escape(explain_no_result(trace)))
    return lines


def _settings(trace: Trace) -> dict[str, str]:
    settings, drafter, machine = trace.settings, trace.drafter, trace.recorded_on
    limits = [(name, value) for name, value in (("top-k", settings.top_k), ("top-p", settings.top_p)) if value]
    target, size = trace.target, trace.target.parameters
    named = SAYS["target_size" if size else "target_no_size"]
    draft = " · ".join(filter(None, (short_name(drafter.name), drafter.dtype))) if drafter else ""
    is_unknown = trace.imported and "temperature" in trace.imported.unknown
    sampling = SAYS["not_reported" if is_unknown else "greedy" if settings.greedy else "sampled"]
    sampling = sampling.format(temperature=settings.temperature, seed=settings.seed)
    facts = {
        SAYS["target"]: named.format(name=short_name(target.name), parameters=size, dtype=target.dtype),
        SAYS["drafter"]: draft or SAYS["no_drafter"],
        SAYS["length"]: f"{settings.draft_length}, {settings.draft_schedule}",
        **dict(facts_of(settings)),
        SAYS["sampling"]: join_choices(
            [sampling, *(f"{name} {localize(value, 'g')}" for name, value in limits)], "and"
        ),
        SAYS["tokens"]: SAYS["tokens_stopped"].format(most=settings.max_new_tokens, stopped=trace.output.stopped_by),
    }
    if trace.imported:
        facts[SAYS["imported"]] = " ".join([f"{trace.imported.system}.", *trace.imported.notes])
    else:
        its = {"machine": machine.machine, "torch": machine.torch, "threads": machine.threads}
        facts[SAYS["recorded"]] = fill(SAYS["recorded_on"], {"date": trace.created[:10], **its})
    if forward := forward_in_words(trace):
        facts[SAYS["passes"]] = forward
    return facts


# ---- a lesson for students. The answers and the notes for the teacher are in the key (`specviz.player.sheet.key_html`)


class OfflineMoment(TypedDict):
    """A moment that plays a run: the run's name, and what else its stage needs."""

    run: str
    state: StageState


class OfflineLesson(TypedDict):
    """What the page plays. Moments of the same run share it; a moment without a run is null."""

    runs: dict[str, SentRun]
    moments: list[OfflineMoment | None]
    sites: list[str]  # whose pages hear how far a reader is: those that whoever exports it names in full


def lesson_page(plan: LessonPlan, address: str | None = None, questions: Sequence[Question] = ()) -> str:
    """The HTML of a page with all moments of a plan.

    Args:
        plan: the lesson.
        address: that of Watch on a server that students can reach; what does not work offline then links there.
        questions: asked at the end; with some, the page tells a learning system around it how far its reader is.

    Raises:
        InputError: the page would be larger than 2 MB.
    """
    parts = {
        "title": plan.title,
        "plan": plan,
        "address": address,
        "questions": questions,
        "result_lines": result_lines,
        "needs_in_words": needs_in_words,
        "lesson": inline_json(_played(plan)),
    }
    return _page("lesson", "lesson", parts, (*STYLES, "stage/views.css", "offline/lesson.css"))


def _played(plan: LessonPlan) -> OfflineLesson:
    runs: dict[str, SentRun] = {}
    moments: list[OfflineMoment | None] = []
    for number, moment in enumerate(plan.moments):
        trace, screen = moment.screen.run, moment.screen
        if trace is None:
            moments.append(None)
            continue
        guesses, run_id = first_draft_guesses() if trace is first_trace() else None, f"moment-{number}"
        sent = _recorded(trace, run_id, guesses)
        sent["playhead"] = screen.step
        # A room's view and a frame's are for a room and a frame: a student gets the tokens and what explains them.
        sent["view"] = "full" if screen.last("view") in (None, "full") else "simple"
        sent["hide"] = sorted(screen.hides)
        name = screen.last("run") or ""
        runs[name] = sent["run"]
        own = {key: value for key, value in sent.items() if key != "run"}
        moments.append({"run": name, "state": cast(StageState, own)})
    sites = [site for site in operator_setting("SPECVIZ_FRAMES").split() if "://" in site and "*" not in site]
    return {"runs": runs, "moments": moments, "sites": sites}


def needs_in_words(moment: Moment) -> str:
    page = other_page(moment)
    return SAYS["needs_page"].format(page=page) if page else SAYS["needs_run"]


# ---- in a notebook: an iframe holds the page as text (`srcdoc`), so it needs no server and no package of the notebook

HEIGHT = 720  # pixels; the stage of a run needs about as many


@dataclass(frozen=True, slots=True)
class NotebookView:
    title: str
    page: str = field(repr=False)  # the HTML

    def _repr_html_(self) -> str:
        """The page in a frame of its own. It may run its own script, and reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="{escape(self.title)}" sandbox="allow-scripts" '
            f'width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
        )


def show(trace: Trace, theme: Scheme = "auto") -> NotebookView:
    """Play a finished run in a notebook; the value must be the last one of its cell.

    Args:
        trace: the run, decoded here, read with `read_trace` or recorded.
        theme: "light" or "dark"; "auto" is what the browser prefers, which can differ from the notebook's own theme.

    Raises:
        InputError: the run has not ended, it is too large for a page, or there is no such theme.
    """
    if theme not in SCHEMES:
        raise InputError(f"theme must be {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}, not {theme!r}.")
    title = _title(trace, SAYS["frame" if trace.drafter else "frame_alone"])
    return NotebookView(title, offline_page(trace, scheme=theme))
