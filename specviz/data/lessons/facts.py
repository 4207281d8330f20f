"""Every figure that a text may name, as written on screen: of a recorded run, and of what is stored with the app."""

import csv
from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.languages import cache_by_language
from specviz.core.metrics import costs, count, span, speedup
from specviz.core.names import machine_in_words, spell_place
from specviz.core.numbers import localize
from specviz.core.once import cache_once
from specviz.core.rounds import known_seconds
from specviz.core.settings import UNSURE_BELOW
from specviz.core.texts import AppTexts, Facts, Parts, fill, join_choices, spell_count
from specviz.core.trace import Trace
from specviz.data.lessons import recorded_runs
from specviz.data.measured.batches import Ratio, pass_shares, recorded_batches
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.data.texts import page_texts

UNKNOWN = "?"
SAYS = page_texts("facts")
CHAINS, TREES = "wren-nano", "wren-nano tree"
SWEEP = ASSETS / "traces" / "sweep.csv"
DRAFT = "wren-nano"
ScheduleName = Literal["fixed", "heuristic", "confidence"]
SCHEDULES: tuple[ScheduleName, ...] = ("fixed", "heuristic", "confidence")
FactsRow = dict[str, str]  # one prompt at one setting, as the file has it


@cache_by_language
def facts_of(name: str) -> Facts:
    trace = recorded_runs.story_trace(name)
    stopped = written("stopping", on=machine_in_words(stopping().machine), found=stopping())
    of_run = {**_gather_run(name, trace), **_gather_rounds(trace)}
    return {**of_run, **_gather_sweeps(), **_gather_passes(), **method_facts(), **_gather_batches(), **stopped}


def written(kind: str, **given: object) -> dict[str, str]:
    """The figures of one part of assets/texts/figures.yaml."""
    return {name: fill(text, given) for name, text in figure_texts()[kind].items()}


figure_texts = AppTexts("figures", Parts)


def _gather_run(name: str, trace: Trace) -> Facts:
    figures, counts, gain = recorded_runs.story_figures(), count(trace.rounds), speedup(trace) or 0.0
    on, most = machine_in_words(trace.recorded_on.machine), trace.settings.draft_length + 1
    judged = counts.accepted + counts.rejected
    facts = written("counts", run=trace, on=on, counts=counts, judged=judged, gain=gain, most=most)
    facts["tried"] = str(figures.tried.get(name, ""))
    if found := figures.tried_per_call.get(name):
        facts |= written("tried", least=min(found), most=max(found))
    tokens = [t for r in trace.rounds for t in r.drafted if t.status in ("accepted", "rejected")]
    for kind, its in (
        ("sure", [t for t in tokens if (t.draft_prob or 0.0) >= UNSURE_BELOW]),
        ("unsure", [t for t in tokens if (t.draft_prob or 0.0) < UNSURE_BELOW]),
    ):
        facts |= {kind: str(len(its)), f"{kind}_accepted": str(sum(t.status == "accepted" for t in its))}
    measured, plain = costs(trace), trace.autoregressive
    if measured is None or plain is None:
        return facts
    step, checked = 1000 * measured.step_seconds, measured.verification.get(most, 1.0)  # in milliseconds
    mean, check = 1000 * fmean(plain.seconds_per_token), step * checked
    note, draft = "" if check >= mean else SAYS["noise"], step * measured.cost_ratio
    prefill = trace.prefill_seconds
    reading, draft_reading = (1000 * known_seconds(each) for each in (prefill.target, prefill.draft))
    facts |= written("times", mean=mean, draft=draft, check=check, reading=reading, draft_reading=draft_reading)
    return facts | written("costs", costs=measured, checked=checked, note=note)


def _gather_rounds(trace: Trace) -> Facts:
    facts: dict[str, str] = {}
    if mixed := recorded_runs.mixed_round(trace):
        drafted, at = len(mixed.drafted), mixed.accepted
        facts |= written("mixed", round=mixed, drafted=drafted, written=at + 1, place=spell_place(at))
    if full := recorded_runs.full_round(trace):
        number, drafted = full.index + 1, len(full.drafted)
        facts |= written("full", number=number, drafted=drafted, written=drafted + 1)
    if drawn := recorded_runs.drawn_round(trace):
        token, beta = drawn.drafted[drawn.accepted], recorded_runs.overlap_of(drawn).beta
        facts |= written("drawn", number=drawn.index + 1, token=token, text=token.shown.strip(), beta=beta)
    if (branch := recorded_runs.branch_round(trace)) and (pair := recorded_runs.siblings_of(branch)):
        failed, taken = (token.shown.strip() for token in pair)
        nodes = len(branch.drafted)
        facts |= written("tree", number=branch.index + 1, nodes=nodes, failed=failed, taken=taken)
    return facts


def _gather_sweeps() -> Facts:
    """Figures over the story prompts. A setting is called best only beside those that the prompts cannot rank."""
    figures = recorded_runs.story_figures()
    lengths, drafts, temperatures = figures.draft_lengths, figures.drafts, figures.temperatures
    best, longest = max(lengths, key=lambda row: row.speedup), lengths[-1]
    near = [row for row in lengths if row is best or not row.resolved_from(best)]
    greedy, hottest = temperatures[0], temperatures[-1]
    return written(
        "sweeps",
        figures=figures,
        on=machine_in_words(figures.recorded_on),
        prompts=len(best.speedups),
        near_lengths=join_choices([spell_count(row.draft_length) for row in near], "and"),
        near_speedups=span((min(row.speedup for row in near), max(row.speedup for row in near))),
        longest=longest,
        fastest=max(drafts, key=lambda row: row.speedup),
        biggest=drafts[-1],
        greedy=greedy,
        hottest=hottest,
        hot_note="" if hottest.resolved_from(greedy) else SAYS["hot_note"],
    )


def _gather_passes() -> Facts:
    found = pass_shares()
    one, long = (found.find_pass("float32", tokens) for tokens in (1, found.most))
    program = one.share("program")
    return written("passes", on=machine_in_words(found.machine.machine), found=found, long=long, program=program)


def _gather_batches() -> Facts:
    study = recorded_batches()
    length = study.draft_lengths[-1]
    alone, together = study.at(1, length), study.at(study.batches[-1], length)
    return written(
        "batches", on=machine_in_words(study.recorded_on.machine),
        load="" if study.quiet else SAYS["uncontrolled"], checked=length + 1, alone=alone, together=together,
    )  # fmt: skip


@cache_by_language
def method_facts() -> Facts:
    """Greedy, over all kinds of text: a head and a draft model at one draft length; trees and chains at their best."""
    measured, length = stored_methods(), recorded_runs.DRAFT_LENGTH
    facts = {
        "methods_machine": machine_in_words(measured.machine.machine) if measured else UNKNOWN,
        "methods_prompts": spell_count(measured.prompts) if measured else UNKNOWN,
        "methods_length": spell_count(length),
    }
    greedy = measured.greedy if measured else None
    for key, name in (("tree", TREES), ("chain", CHAINS)):  # at its best setting for each prompt's kind
        method = greedy.find(name) if greedy else None
        facts[f"{key}_best_speedup"] = localize(method.kinds[ALL].best.speedup, ".2f") if method else UNKNOWN
    for key, name in (("nano", CHAINS), ("eagle", "wren-eagle")):
        method = greedy.find(name) if greedy else None
        settings = method.kinds[ALL].settings if method else []
        found = next((each.costs.tokens_per_target_call for each in settings if each.way.draft_length == length), None)
        facts[f"{key}_per_call"] = UNKNOWN if found is None else localize(found, ".2f")
    return facts


@dataclass(frozen=True, slots=True)
class StoppingFigures:
    machine: str
    prompts: int
    speedups: dict[ScheduleName, Ratio]
    wasted: dict[ScheduleName, int]  # guesses that were not accepted
    passes: dict[ScheduleName, int]  # of the target
    gain: Ratio  # the confidence stop over the fixed length, prompt by prompt

    @property
    def passes_saved(self) -> float:
        return 1 - self.passes["confidence"] / self.passes["fixed"]


@cache_once
def stopping() -> StoppingFigures:
    """A fixed draft length beside the schedules that choose it, from the recorded sweep; InputError if that is damaged.

    Only greedy runs of one draft model without a grammar. The fixed length of a prompt is the one that did best on the
    other prompts of its workload, so that no length profits from the prompt's own luck, as on When it helps.
    """
    try:
        rows = _swept()
        return _compared(rows[0]["machine"], {schedule: _group_by_prompt(rows, schedule) for schedule in SCHEDULES})
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{SWEEP.name}, the recorded sweep, cannot be read: {type(error).__name__}.") from error


def swept_speedups(workload: str, draft_length: int) -> list[float]:
    """Of each prompt of the recorded sweep, greedy, at this fixed draft length."""
    its = (row for row in _swept() if (row["workload"], row["draft_schedule"]) == (workload, "fixed"))
    return [float(row["speedup"]) for row in its if int(row["draft_length"]) == draft_length]


def swept_kinds() -> list[str]:
    return sorted({row["workload"] for row in _swept()})


@cache_once
def _swept() -> list[FactsRow]:
    with SWEEP.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["draft"] == DRAFT and float(row["temperature"]) == 0]
    return [row for row in rows if row["constrained"] == "False" and not row["tree"]]


def _group_by_prompt(rows: list[FactsRow], schedule: ScheduleName) -> dict[str, FactsRow]:
    its = [row for row in rows if row["draft_schedule"] == schedule]
    chosen = its if schedule != "fixed" else [row for row in its if row["draft_length"] == _best_on_others(row, its)]
    return {row["preset"]: row for row in chosen}


def _best_on_others(own: FactsRow, rows: list[FactsRow]) -> str:
    logs: dict[str, float] = {}
    for row in rows:
        if row["workload"] == own["workload"] and row["preset"] != own["preset"]:
            logs[row["draft_length"]] = logs.get(row["draft_length"], 0.0) + log(float(row["speedup"]))
    return max(logs, key=logs.__getitem__)


def _compared(machine: str, found: dict[ScheduleName, dict[str, FactsRow]]) -> StoppingFigures:
    names = sorted(set.intersection(*(set(each) for each in found.values())))

    def sums(rows: dict[str, FactsRow], column: str) -> int:
        return sum(int(rows[name][column]) for name in names)

    speedups = {schedule: [float(rows[name]["speedup"]) for name in names] for schedule, rows in found.items()}
    wasted = {schedule: sums(rows, "drafted") - sums(rows, "accepted") for schedule, rows in found.items()}
    passes = {schedule: sums(rows, "rounds") for schedule, rows in found.items()}
    gains = [a / b for a, b in zip(speedups["confidence"], speedups["fixed"], strict=True)]
    ratios = {schedule: Ratio.from_ratios(each) for schedule, each in speedups.items()}
    return StoppingFigures(machine, len(names), ratios, wasted, passes, Ratio.from_ratios(gains))
