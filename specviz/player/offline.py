"""What the stage plays with no network and no server: a run or a lesson as one HTML file, a run in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import chain
from typing import TypedDict, cast

from specviz.core.drafters import method_of
from specviz.core.errors import InputError
from specviz.core.files import BROWSER
from specviz.core.metrics import Costs, count
from specviz.core.names import forward_in_words, short_name
from specviz.core.replay import DraftGuesses
from specviz.core.settings import facts as facts_of
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, compare_texts, explain_no_verdict, verdict_of_run
from specviz.data.lessons.plans import LessonPlan, Moment
from specviz.data.lessons.story import Question
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from specviz.data.texts import asset
from specviz.measure.paired import Comparison
from specviz.player.data import stage_data
from specviz.player.html_file import SCHEMES, Scheme, bundle, html_file, inline_json
from specviz.player.payload import SentRun, SentStage, StageState
from specviz.player.sheet import PAGE_NAMES

STYLES = ("stage/stage.css", "stage/tree.css", "stage/diagram.css", "offline/page.css", "stage/paper.css")
ONE_LENGTH = "This file has the run at one draft length: what the draft guesses at others is not in it."
QUESTIONS = "Questions"
PROJECT = "specviz: speculative decoding, token by token"


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
        raise InputError("The run has not ended: only a whole run can be exported.")
    if repeats:
        trace = replace(trace, autoregressive=repeats.plain.autoregressive)
    data = stage_data(trace, run_id="offline", source="recorded", running=False, guesses=guesses, costs=costs)
    _explain_no_lengths(data, guesses)
    drafter = f"{short_name(trace.drafter.name)} drafts for " if trace.drafter else ""
    parts = {
        "title": escape(f"One run: {drafter}{short_name(trace.target.name)}"),
        "lead": _lead(trace),
        "stage": asset("stage/stage.html"),
        "result": result_html(trace, costs, repeats),
        "texts": _texts(trace, plain_text),
        "settings": _settings(trace),
        "footer": _footer(address),
        "run": inline_json(data),
        "script": bundle(BROWSER / "offline/player.js"),
        "style": "\n".join(map(asset, STYLES)),
    }
    return html_file("offline/page.html", parts, scheme)


def _explain_no_lengths(data: SentStage, guesses: DraftGuesses | None) -> None:
    """A file cannot run another draft length: without guesses it plays one. The trace of a tree says why itself."""
    if guesses is None and data["run"]["trace"]["settings"]["tree"] is None:
        data["why_not"] = ONE_LENGTH


def _lead(trace: Trace) -> str:
    settings = trace.settings
    if trace.drafter is None:
        return "The <b>target</b>, a big model, writes alone: each pass gives one token."
    end = "accepts the right start and corrects the first mistake"
    if settings.tree:
        end = "accepts one path of the tree and adds a token of its own"
    elif settings.verification == "block" and not settings.greedy:
        end = "accepts as long a block as passes and corrects what follows"
    check = "The <b>target</b>, a big model, <b>checks them all in one pass</b>"
    return f"{method_of(trace.drafter.kind).lead} {check}, {end}."


def result_html(trace: Trace, costs: Costs | None, repeats: Comparison | None) -> str:
    counts, lines = count(trace.rounds), []
    if counts.tokens_per_target_call is not None and counts.drafted:
        judged = counts.accepted + counts.rejected
        lines.append(
            f"<b>Counted, exact:</b> {counts.tokens_per_target_call:.2f} tokens per target call; "
            f"{counts.accepted} of {judged} judged guesses accepted."
        )
    verdict = repeats.verdict if repeats else verdict_of_run(trace, costs)
    if verdict:
        timed = f"{escape(_headline(verdict, repeats))} {escape(verdict.reason)}"
        runs = f"{len(repeats.ratios)} pairs of runs" if repeats and len(repeats.ratios) > 1 else "one run"
        lines.append(f"<b>Timed, {runs} of one text on {escape(trace.recorded_on.machine)}:</b> {timed}")
    else:
        lines.append(f"No verdict: {escape(explain_no_verdict(trace) or 'this run has no times')}.")
    return "\n".join(f"<p>{line}</p>" for line in lines)


def _headline(verdict: Verdict, repeats: Comparison | None) -> str:
    """The verdict's words; for repeats with their interval, and which of them is played."""
    if repeats is None or verdict.interval is None:
        return f"{verdict.headline}."
    interval = "95 % interval {:.2f} to {:.2f}×".format(*verdict.interval)
    return f"{verdict.headline} ({interval}). One of these runs is played above."


def _texts(trace: Trace, plain_text: str | None) -> str:
    same = f"<p>{escape(compare_texts(trace))}</p>" if trace.autoregressive else ""
    written = [("Speculative decoding wrote", trace.output.text)]
    if plain_text is not None:
        written.append(("The target alone wrote", plain_text))
    both = "".join(f"<div><h3>{name}</h3><pre translate=no>{escape(text) or ' '}</pre></div>" for name, text in written)
    prompt = f"<h3>Prompt</h3><pre translate=no>{escape(trace.prompt.text) or ' '}</pre>"
    return f'{same}<div class="texts"><div>{prompt}</div></div><div class="texts">{both}</div>'


def _settings(trace: Trace) -> str:
    settings, drafter, machine = trace.settings, trace.drafter, trace.recorded_on
    limits = [(name, value) for name, value in (("top-k", settings.top_k), ("top-p", settings.top_p)) if value]
    threads = "1 thread" if machine.threads == 1 else f"{machine.threads} threads"
    size = f"{trace.target.parameters:,} parameters" if trace.target.parameters else "size not reported"
    draft = " · ".join(filter(None, (short_name(drafter.name), drafter.dtype))) if drafter else "none: the target alone"
    facts = {
        "Target": f"{short_name(trace.target.name)}, {size}, {trace.target.dtype}",
        "Draft": draft,
        "Draft length γ": f"{settings.draft_length}, {settings.draft_schedule}",
        **dict(facts_of(settings)),
        "Sampling": ", ".join(chain([_sampling(trace)], (f"{name} {value:g}" for name, value in limits))),
        "Tokens": f"at most {settings.max_new_tokens}; stopped by {trace.output.stopped_by}",
        "Recorded": f"{trace.created[:10]} on {machine.machine}, torch {machine.torch}, {threads}",
    }
    if trace.imported:
        del facts["Recorded"]
        facts["Imported from"] = " ".join([f"{trace.imported.system}.", *trace.imported.notes])
    if forward := forward_in_words(trace):
        facts["Forward passes"] = forward
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())


def _sampling(trace: Trace) -> str:
    if trace.imported and "temperature" in trace.imported.unknown:
        return "not reported"
    settings = trace.settings
    return "greedy" if settings.greedy else f"temperature {settings.temperature:g}, seed {settings.seed}"


def _footer(address: str | None) -> str:
    made = escape(f"Made with {PROJECT}. This file needs no network.")
    if address is None or not address.startswith(("https://", "http://")):
        return made
    return f'{made} <a href="{escape(address)}" rel="noreferrer">Open this run live</a>'


# ---- a lesson for students. The answers and the notes for the teacher are in the key (`specviz.player.sheet.key_html`)


class OfflineMoment(TypedDict):
    """A moment that plays a run: the run's name, and what else its stage needs."""

    run: str
    state: StageState


class OfflineLesson(TypedDict):
    """What the page plays. Moments of the same run share it; a moment without a run is null."""

    runs: dict[str, SentRun]
    moments: list[OfflineMoment | None]


def lesson_page(plan: LessonPlan, address: str | None = None, questions: Sequence[Question] = ()) -> str:
    """The HTML of a page with all moments of a plan.

    Args:
        plan: the lesson.
        address: that of Watch on a server that students can reach; what does not work offline then links there.
        questions: asked at the end; with some, the page tells a learning system around it how far its reader is.

    Raises:
        InputError: the page would be larger than 2 MB.
    """
    goals = "".join(f"<li>{escape(goal)}</li>" for goal in plan.goals)
    parts = {
        "title": escape(plan.title),
        "goals": f"<h2>Goals</h2><ul>{goals}</ul>" if goals else "",
        "list": "".join(_entry(number, moment) for number, moment in enumerate(plan.moments, start=1))
        + (f'<li><a href="#questions">{QUESTIONS}</a></li>' if questions else ""),
        "moments": "".join(_section(plan, number, address) for number in range(len(plan.moments))),
        "questions": _questions(questions),
        "footer": _footer(None),
        "stage": asset("stage/stage.html"),
        "lesson": inline_json(_played(plan)),
        "script": bundle(BROWSER / "offline/lesson.js"),
        "style": "\n".join(map(asset, (*STYLES, "stage/views.css", "offline/lesson.css"))),
    }
    return html_file("offline/lesson.html", parts)


def _questions(questions: Sequence[Question]) -> str:
    """The section with the questions; empty without any. Each option's meaning is shown once it is chosen."""
    if not questions:
        return ""
    asked = "".join(_question(number, question) for number, question in enumerate(questions))
    return (
        f'<section class="moment" id="questions" hidden><h2 tabindex="-1">{QUESTIONS}</h2>{asked}'
        '<p class="score" role="status"></p><nav class="way"><a href="#">All moments</a></nav></section>'
    )


def _question(number: int, question: Question) -> str:
    options = "".join(
        f'<label><input type="radio" name="question-{number}" value="{value}"> {escape(option.text.technical)}</label>'
        f'<p class="meaning" hidden>{"Right" if option.right else "Not right"}. {escape(option.meaning.technical)}</p>'
        for value, option in enumerate(question.options)
    )
    legend = f"<legend>{number + 1}. {escape(question.text.technical)}</legend>"
    return f'<fieldset class="asked" data-right="{question.right}">{legend}{options}</fieldset>'


def _played(plan: LessonPlan) -> OfflineLesson:
    runs: dict[str, SentRun] = {}
    moments: list[OfflineMoment | None] = []
    for number, moment in enumerate(plan.moments):
        trace, screen = moment.screen.run, moment.screen
        if trace is None:
            moments.append(None)
            continue
        guesses, run_id = first_draft_guesses() if trace is first_trace() else None, f"moment-{number}"
        sent = stage_data(trace, run_id=run_id, source="recorded", running=False, playhead=screen.step, guesses=guesses)
        _explain_no_lengths(sent, guesses)
        # A room's view and a frame's are for a room and a frame: a student gets the tokens and what explains them.
        sent["view"] = "full" if screen.last("view") in (None, "full") else "simple"
        sent["hide"] = sorted(screen.hides)
        name = screen.last("run") or ""
        runs[name] = sent["run"]
        own = {key: value for key, value in sent.items() if key != "run"}
        moments.append({"run": name, "state": cast(StageState, own)})
    return {"runs": runs, "moments": moments}


def _entry(number: int, moment: Moment) -> str:
    needs = "" if moment.screen.run else " (needs the server)"
    minutes = f'<span class="minutes">{moment.minutes} min{needs}</span>'
    return f'<li><a href="#moment-{number}">{escape(moment.title)}</a> {minutes}</li>'


def _section(plan: LessonPlan, at: int, address: str | None) -> str:
    moment = plan.moments[at]
    if trace := moment.screen.run:
        shown = f'<section aria-label="Result">{result_html(trace, None, None)}</section>'
        body = f'<div class="place"></div>{"" if "result" in moment.screen.hides else shown}'
    else:
        body = _needs_server(moment, address)
    return (
        f'<section class="moment" id="moment-{at + 1}" data-moment="{at}" hidden>'
        f'<h2 tabindex="-1">{at + 1}. {escape(moment.title)}</h2>'
        f'<p class="question">{escape(moment.question)}</p>{body}{_way(plan, at)}</section>'
    )


def _needs_server(moment: Moment, address: str | None) -> str:
    href = escape(f"{address}{moment.screen.link.removeprefix('./')}")
    link = "" if address is None else f' <a href="{href}" rel="noreferrer">Open it there</a>'
    return f'<p class="needs">{escape(needs_in_words(moment))}{link}</p>'


def needs_in_words(moment: Moment) -> str:
    page = PAGE_NAMES.get(moment.screen.page)
    what = f"the page “{page}”" if page else "a run that the server makes"
    return f"This moment is {what}. It needs the server."


def _way(plan: LessonPlan, at: int) -> str:
    links = [(f"#moment-{at}", "← Previous moment")] if at else []
    links.append(("#", "All moments"))
    if at + 1 < len(plan.moments):
        links.append((f"#moment-{at + 2}", "Next moment →"))
    return f'<nav class="way">{"".join(f"<a href={link!r}>{name}</a>" for link, name in links)}</nav>'


# ---- in a notebook: an iframe holds the page as text (`srcdoc`), so it needs no server and no package of the notebook

HEIGHT = 720  # pixels; the stage of a run needs about as many


@dataclass(frozen=True, slots=True)
class NotebookView:
    title: str
    page: str = field(repr=False)  # the HTML
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """The page in a frame of its own. It may run its own script, and reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="{escape(self.title)}" sandbox="allow-scripts" '
            f'width="100%" height="{self.height}" style="border: 0"></iframe>'
        )


def show(trace: Trace, theme: Scheme = "auto", height: int = HEIGHT) -> NotebookView:
    """Play a finished run in a notebook; the value must be the last one of its cell.

    Args:
        trace: the run, decoded here, read with `read_trace` or recorded.
        theme: "light" or "dark"; "auto" is what the browser prefers, which can differ from the notebook's own theme.
        height: of the frame, in pixels.

    Raises:
        InputError: the run has not ended, it is too large for a page, or an argument cannot be used.
    """
    if theme not in SCHEMES:
        raise InputError(f"theme must be {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}, not {theme!r}.")
    if height < 1:
        raise InputError(f"height must be at least 1 pixel, not {height}.")
    drafter = f" with {short_name(trace.drafter.name)}" if trace.drafter else ""
    return NotebookView(f"A run of {short_name(trace.target.name)}{drafter}", offline_page(trace, scheme=theme), height)
