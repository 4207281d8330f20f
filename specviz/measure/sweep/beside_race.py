"""A kind of text in a race and in a sweep: where the two say different things, and why. Laps and rows in, text out."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from specviz.core.judge import LOOKS, NEUTRAL
from specviz.core.texts import Sentences, join_choices
from specviz.measure.paired import Comparison
from specviz.measure.race import RaceKind, kinds_of
from specviz.measure.sweep.rows import MADE_BY, SERIES
from specviz.measure.sweep.study import PROMPT, Study, pooled, select_kind
from specviz.measure.sweep.table import iterate_rows

MACHINE = ("threads", "machine")
say = Sentences("race-beside-sweep")
# By what changes most, and what changes the next most.
WHY: Mapping[tuple[str, ...], Callable[[], str]] = {
    ("prompts",): lambda: say("why_prompts"),
    ("length",): lambda: say("why_length"),
    ("prompts", "length"): lambda: say("why_prompts_first"),
    ("length", "prompts"): lambda: say("why_length_first"),
}


@dataclass(frozen=True, slots=True)
class RaceComparison:
    raced: RaceKind
    draft_length: int  # of the race
    repeats: int
    swept: Any  # a row of `pooled`: each prompt at the draft length that did best on the others
    same_length: Any | None  # all prompts of the sweep at the race's draft length; None where that was not measured
    same_prompts: Any | None  # the race's own prompts there, at that draft length
    elsewhere: list[str]  # what else differs: the machine, the number of tokens

    @property
    def differs(self) -> bool:
        return bool(self.raced.verdict.judgement.word != self.swept.outcome)

    @property
    def sentence(self) -> str:
        different = say("also", differences="; ".join(self.elsewhere)) if self.elsewhere else say("alike")
        return say(
            "both",
            raced=self.raced,
            verdict=self.raced.verdict,
            swept=self.swept,
            names=", ".join(self.raced.prompts),
            length=self.draft_length,
            outcome=LOOKS[self.swept.outcome].said,
            times=say("once") if self.repeats == 1 else say("times", repeats=self.repeats),
            prompts=self.swept.prompts,
            lengths=join_choices(self.swept.lengths),
            there=self._describe_there(),
            why=self._explain_change(),
            different=different,
        )

    def _describe_there(self) -> str:
        length, own, whole = self.draft_length, self.same_prompts, self.same_length
        if whole is None:
            return say("not_measured", length=length)
        every = say("every", prompts=whole.prompts, speedup=whole.speedup)
        if own is None:
            return say("there", length=length, every=every)
        return say(
            "there_alone",
            length=length,
            names=", ".join(self.raced.prompts),
            speedup=own.speedup,
            rate=own.per_judgement_rate,
            every=every,
            rate_of_all=whole.per_judgement_rate,
        )

    def _explain_change(self) -> str:
        """What changes most: the prompts or the draft length; nothing where neither explains the direction."""
        if self.same_length is None or self.same_prompts is None:
            return ""
        total = math.log(self.swept.speedup / self.raced.verdict.speedup)
        changes = {
            "prompts": math.log(self.same_length.speedup / self.same_prompts.speedup),
            "length": math.log(self.swept.speedup / self.same_length.speedup),
        }
        causes = [name for name, change in changes.items() if change * total > 0 and abs(change) > math.log(NEUTRAL)]
        causes.sort(key=lambda name: -abs(changes[name]))
        return WHY[tuple(causes)]() if causes else ""


def compare_with_race(laps: Sequence[Comparison], studies: Sequence[Study]) -> list[RaceComparison]:
    wanted = _made_by(laps)
    study = next((each for each in studies if wanted == {name: getattr(each.series, name) for name in wanted}), None)
    if study is None:
        return []
    swept = {point.workload: point for point in iterate_rows(study.fair)}
    kinds = (kind for kind in kinds_of(laps) if kind.verdict.trusted and kind.name in swept)
    return [_compare_kind(kind, laps, study, swept[kind.name]) for kind in kinds]


def _made_by(laps: Sequence[Comparison]) -> dict[str, object]:
    """What must be the same in both: the models in their number formats, and the settings that are not pooled."""
    run = laps[0].speculative
    assert run.drafter is not None
    models = run.target.name, run.target.dtype, run.drafter.name, run.drafter.dtype
    made = dict(zip((name for name in MADE_BY if name not in MACHINE), models, strict=True))
    return made | {name: getattr(run.settings, name) for name in SERIES if name not in MADE_BY}


def _compare_kind(kind: RaceKind, laps: Sequence[Comparison], study: Study, swept: Any) -> RaceComparison:
    its = [lap for lap in laps if lap.name in kind.prompts]
    length = its[0].speculative.settings.draft_length
    fixed = select_kind(study.possible)
    there = fixed[(fixed["workload"] == kind.name) & (fixed["draft_length"] == length)]
    own = there[there["preset"].isin(kind.prompts)]
    known = own.drop_duplicates(PROMPT)["preset"].nunique() == len(kind.prompts)
    return RaceComparison(
        kind,
        length,
        len(its[0].ratios),
        swept,
        _point(there),
        _point(own) if known else None,
        [*_list_differences(its, study)],
    )


def _point(rows: pd.DataFrame) -> Any | None:
    return None if rows.empty else next(iter(iterate_rows(pooled(rows, ["workload"]))))


def _list_differences(laps: Sequence[Comparison], study: Study) -> Iterator[str]:
    machine, series = laps[0].speculative.recorded_on, study.series
    if (machine.machine, machine.threads) != (series.machine, series.threads):
        yield say("machines", one=machine, other=series, threads=machine.threads, other_threads=series.threads)
    raced, swept = laps[0].speculative.settings.max_new_tokens, sorted(set(study.rows["max_new_tokens"]))
    if swept != [raced]:
        yield say("tokens", raced=raced, swept=", ".join(map(str, swept)))
