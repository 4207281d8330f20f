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
from specviz.core.verdict import Verdict, compare_texts, explain_no_result, verdict_of_run
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
    data = stage_data(trace, run_id="offline", source="recorded", running=False, guesses=guesses, costs=costs)
    _explain_no_lengths(data, guesses)
    parts = {
        "title": escape(_title(trace, SAYS["run_title" if trace.drafter else "run_title_alone"])),
        "lead": SAYS["lead"].format(drafts=method_of(trace.drafter.kind).here.lead)
        if trace.drafter
        else SAYS["lead_alone"],
        "stage": asset("stage/stage.html"),
        "result": result_html(trace, costs, repeats),
        "texts": _texts(trace, plain_text),
        "settings": _settings(trace),
        "footer": _footer(address),
        "run": inline_json(data),
        "script": program("offline/player"),
        "style": "\n".join(map(asset, STYLES)),
    }
    return html_file("offline/page.html", parts, scheme)


def _title(trace: Trace, title: str) -> str:
    drafter = short_name(trace.drafter.name) if trace.drafter else ""
    return title.format(target=short_name(trace.target.name), drafter=drafter)


def _explain_no_lengths(data: SentStage, guesses: DraftGuesses | None) -> None:
    """A file cannot run another draft length: without guesses it plays one. The trace of a tree says why itself."""
    if guesses is None and data["run"]["trace"]["settings"]["tree"] is None:
        data["why_not"] = SAYS["one_length"]


def result_html(trace: Trace, costs: Costs | None, repeats: Comparison | None) -> str:
    counts, lines = count(trace.rounds), []
    if counts.tokens_per_target_call is not None and counts.drafted:
        judged = counts.accepted + counts.rejected
        tokens = counts.tokens_per_target_call
        lines.append(SAYS["counted"].format(tokens=tokens, accepted=counts.accepted, judged=judged))
    verdict = repeats.verdict if repeats else verdict_of_run(trace, costs)
    if verdict:
        pairs = len(repeats.ratios) if repeats else 1
        timed = SAYS["timed_pairs" if pairs > 1 else "timed_once"]
        said, machine = escape(_verdict(verdict, repeats)), escape(trace.recorded_on.machine)
        lines.append(timed.format(count=pairs, machine=machine, verdict=said))
    else:
        lines.append(escape(explain_no_result(trace)))
    return "\n".join(f"<p>{line}</p>" for line in lines)


def _verdict(verdict: Verdict, repeats: Comparison | None) -> str:
    """The verdict's words; for repeats with their interval, and which of them is played."""
    if repeats is None or verdict.interval is None:
        return SAYS["verdict"].format(headline=verdict.headline, reason=verdict.reason)
    low, high = verdict.interval
    return SAYS["verdict_repeats"].format(headline=verdict.headline, low=low, high=high, reason=verdict.reason)


def _texts(trace: Trace, plain_text: str | None) -> str:
    same = f"<p>{escape(compare_texts(trace))}</p>" if trace.drafter and trace.autoregressive else ""
    written = [(SHARED["speculative_wrote" if trace.drafter else "target_wrote"], trace.output.text)]
    if plain_text is not None:
        written.append((SHARED["target_wrote"], plain_text))
    both = "".join(f"<div>{_text(name, text)}</div>" for name, text in written)
    prompt = _text(SAYS["prompt"], trace.prompt.text)
    return f'{same}<div class="texts"><div>{prompt}</div></div><div class="texts">{both}</div>'


def _text(name: str, text: str) -> str:
    return f"<h3>{escape(name)}</h3><pre translate=no>{escape(text) or ' '}</pre>"


def _settings(trace: Trace) -> str:
    settings, drafter, machine = trace.settings, trace.drafter, trace.recorded_on
    limits = [(name, value) for name, value in (("top-k", settings.top_k), ("top-p", settings.top_p)) if value]
    target, size = trace.target, trace.target.parameters
    named = SAYS["target_size" if size else "target_no_size"]
    draft = " · ".join(filter(None, (short_name(drafter.name), drafter.dtype))) if drafter else ""
    facts = {
        SAYS["target"]: named.format(name=short_name(target.name), parameters=size, dtype=target.dtype),
        SAYS["drafter"]: draft or SAYS["no_drafter"],
        SAYS["length"]: f"{settings.draft_length}, {settings.draft_schedule}",
        **dict(facts_of(settings)),
        SAYS["sampling"]: join_choices(
            [_sampling(trace), *(f"{name} {localize(value, 'g')}" for name, value in limits)], "and"
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
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())


def _sampling(trace: Trace) -> str:
    if trace.imported and "temperature" in trace.imported.unknown:
        return SAYS["not_reported"]
    settings = trace.settings
    sampled = SAYS["greedy" if settings.greedy else "sampled"]
    return sampled.format(temperature=settings.temperature, seed=settings.seed)


def _footer(address: str | None) -> str:
    made = escape(SAYS["made_with"].format(project=SAYS["project"]))
    if address is None or not address.startswith(("https://", "http://")):
        return made
    return f'{made} <a href="{escape(address)}" rel="noreferrer">{escape(SAYS["open_live"])}</a>'


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
    goals = "".join(f"<li>{escape(goal)}</li>" for goal in plan.goals)
    parts = {
        "title": escape(plan.title),
        "goals": f"<h2>{escape(SAYS['goals'])}</h2><ul>{goals}</ul>" if goals else "",
        "list": "".join(_entry(number, moment) for number, moment in enumerate(plan.moments, start=1))
        + (f'<li><a href="#questions">{escape(SAYS["questions"])}</a></li>' if questions else ""),
        "moments": "".join(_section(plan, number, address) for number in range(len(plan.moments))),
        "questions": _questions(questions),
        "footer": _footer(None),
        "stage": asset("stage/stage.html"),
        "lesson": inline_json(_played(plan)),
        "script": program("offline/lesson"),
        "style": "\n".join(map(asset, (*STYLES, "stage/views.css", "offline/lesson.css"))),
    }
    return html_file("offline/lesson.html", parts)


def _questions(questions: Sequence[Question]) -> str:
    """The section with the questions; empty without any. Each option's meaning is shown once it is chosen."""
    if not questions:
        return ""
    asked = "".join(_question(number, question) for number, question in enumerate(questions))
    return (
        f'<section class="moment" id="questions" hidden><h2 tabindex="-1">{escape(SAYS["questions"])}</h2>{asked}'
        '<p class="score" role="status"></p>'
        f'<nav class="way"><a href="#">{escape(SAYS["all_moments"])}</a></nav></section>'
    )


def _question(number: int, question: Question) -> str:
    options = "".join(
        f'<label><input type="radio" name="question-{number}" value="{value}"> {escape(option.text.technical)}</label>'
        f'<p class="meaning" hidden>{escape(SAYS[said].format(meaning=option.meaning.technical))}</p>'
        for value, option in enumerate(question.options)
        for said in ["right" if option.right else "not_right"]
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
    sites = [site for site in operator_setting("SPECVIZ_FRAMES").split() if "://" in site and "*" not in site]
    return {"runs": runs, "moments": moments, "sites": sites}


def _entry(number: int, moment: Moment) -> str:
    needed = SAYS["minutes" if moment.screen.run else "minutes_server"].format(minutes=moment.minutes)
    minutes = f'<span class="minutes">{escape(needed)}</span>'
    return f'<li><a href="#moment-{number}">{escape(moment.title)}</a> {minutes}</li>'


def _section(plan: LessonPlan, at: int, address: str | None) -> str:
    moment = plan.moments[at]
    if trace := moment.screen.run:
        shown = f'<section aria-label="{escape(SAYS["result"])}">{result_html(trace, None, None)}</section>'
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
    link = "" if address is None else f' <a href="{href}" rel="noreferrer">{escape(SAYS["open_there"])}</a>'
    return f'<p class="needs">{escape(needs_in_words(moment))}{link}</p>'


def needs_in_words(moment: Moment) -> str:
    page = other_page(moment)
    return SAYS["needs_page"].format(page=page) if page else SAYS["needs_run"]


def _way(plan: LessonPlan, at: int) -> str:
    links = [(f"#moment-{at}", SAYS["previous_moment"])] if at else []
    links.append(("#", SAYS["all_moments"]))
    if at + 1 < len(plan.moments):
        links.append((f"#moment-{at + 2}", SAYS["next_moment"]))
    return f'<nav class="way">{"".join(f"<a href={link!r}>{escape(name)}</a>" for link, name in links)}</nav>'


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
    title = _title(trace, SAYS["frame" if trace.drafter else "frame_alone"])
    return NotebookView(title, offline_page(trace, scheme=theme), height)
