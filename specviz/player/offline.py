"""One run as one HTML file: the stage plays it from disk, with no network and no server.

The page holds the run as JSON, the stage's scripts and its styles, and nothing else.
"""

from dataclasses import replace
from html import escape
from itertools import chain

from specviz.core.drafters import method_of
from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.metrics import Costs, count
from specviz.core.names import forward_in_words, short_name
from specviz.core.replay import DraftGuesses
from specviz.core.settings import facts as facts_of
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, compare_texts, verdict_of_run, why_no_verdict
from specviz.measure.paired import Paired
from specviz.player.data import stage_data
from specviz.player.html_file import Scheme, asset, bundle, html_file, inline_json

STYLES = ("stage/stage.css", "stage/tree.css", "stage/diagram.css", "offline/page.css", "stage/paper.css")
PROJECT = "specviz: speculative decoding, token by token"
ALONE = "The <b>big model writes alone</b>: each pass gives one token."


def offline_page(
    trace: Trace,
    *,
    plain_text: str | None = None,
    guesses: DraftGuesses | None = None,
    costs: Costs | None = None,
    address: str | None = None,
    repeats: Paired | None = None,
    scheme: Scheme = "auto",
) -> str:
    """The HTML of a page that plays a finished run.

    Args:
        trace: the run.
        plain_text: what the target alone wrote, where it is known; a trace holds only its token ids.
        guesses: of its own draft, so that the page can show the run at other draft lengths.
        costs: what the pair costs on the machine of the run, for the verdict's reason and for speedups there.
        address: an http address where the same run can be opened live.
        repeats: the timed repeats that the run is one of; the run of the target alone and the verdict are then theirs.
        scheme: light or dark, whatever the browser asks for.

    Raises:
        InputError: the run has not ended, or the page would be larger than 2 MB.
    """
    if trace.output.stopped_by is None:
        raise InputError("The run has not ended: only a whole run can be exported.")
    if repeats:
        trace = replace(trace, autoregressive=repeats.plain.autoregressive)
    data = stage_data(trace, run_id="offline", source="recorded", running=False, guesses=guesses, costs=costs)
    parts = {
        "title": escape(_title(trace)),
        "lead": _lead(trace),
        "stage": asset("stage/stage.html"),
        "result": result_html(trace, costs, repeats),
        "texts": _texts(trace, plain_text),
        "settings": _settings(trace),
        "footer": _footer(address),
        "run": inline_json(data),
        "script": bundle(ASSETS / "offline/player.js"),
        "style": "\n".join(map(asset, STYLES)),
    }
    return html_file("offline/page.html", parts, scheme)


def _title(trace: Trace) -> str:
    drafter = f"{short_name(trace.drafter.name)} drafts for " if trace.drafter else ""
    return f"One run: {drafter}{short_name(trace.target.name)}"


def _lead(trace: Trace) -> str:
    settings = trace.settings
    if trace.drafter is None:
        return ALONE
    end = "accepts the right start and corrects the first mistake"
    if settings.tree:
        end = "accepts one path of the tree and adds a token of its own"
    elif settings.verification == "block" and not settings.greedy:
        end = "accepts as long a block as passes and corrects what follows"
    return f"{method_of(trace.drafter.kind).lead} The <b>big model checks them all in one pass</b>, {end}."


def result_html(trace: Trace, costs: Costs | None, repeats: Paired | None) -> str:
    """What was counted, then what was timed and why."""
    counts, lines = count(trace.rounds), []
    if counts.tokens_per_target_call is not None and counts.drafted:
        judged = counts.accepted + counts.rejected
        lines.append(
            f"<b>Counted, exact:</b> {counts.tokens_per_target_call:.2f} tokens per target call; "
            f"{counts.accepted} of {judged} checked guesses accepted."
        )
    verdict = repeats.verdict if repeats else verdict_of_run(trace, costs)
    if verdict:
        timed = f"{escape(_headline(verdict, repeats))} {escape(verdict.reason)}"
        runs = f"{len(repeats.ratios)} pairs of runs" if repeats and len(repeats.ratios) > 1 else "one run"
        lines.append(f"<b>Timed, {runs} of one text on {escape(trace.recorded_on.machine)}:</b> {timed}")
    else:
        lines.append(f"No verdict: {escape(why_no_verdict(trace) or 'this run has no times')}.")
    return "\n".join(f"<p>{line}</p>" for line in lines)


def _headline(verdict: Verdict, repeats: Paired | None) -> str:
    """The verdict's words; for repeats with their interval, and which of them is played."""
    if repeats is None or verdict.interval is None:
        return f"{verdict.headline}."
    low, high = verdict.interval
    return f"{verdict.headline} (95 % interval {low:.2f} to {high:.2f}×). One of these runs is played above."


def _texts(trace: Trace, plain_text: str | None) -> str:
    same = f"<p>{escape(compare_texts(trace))}</p>" if trace.autoregressive else ""
    written = [("Speculative decoding wrote", trace.output.text)]
    if plain_text is not None:
        written.append(("The target alone wrote", plain_text))
    both = "".join(f"<div><h3>{name}</h3><pre>{escape(text) or ' '}</pre></div>" for name, text in written)
    prompt = f"<h3>Prompt</h3><pre>{escape(trace.prompt.text) or ' '}</pre>"
    return f'{same}<div class="texts"><div>{prompt}</div></div><div class="texts">{both}</div>'


def _settings(trace: Trace) -> str:
    """Names and values of what would make the run again."""
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
