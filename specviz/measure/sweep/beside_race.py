"""A kind of text in a race and in a sweep: where the two say different things, and why. Laps and rows in, text out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from specviz.core.judge import NEUTRAL
from specviz.measure.race import Kind, RaceLap, kinds_of
from specviz.measure.sweep.points import PROMPT, of_kind, pooled
from specviz.measure.sweep.rows import MADE_BY, SERIES
from specviz.measure.sweep.study import Study
from specviz.measure.sweep.table import each_row

MACHINE = ("threads", "machine")


@dataclass(frozen=True, slots=True)
class Beside:
    """One kind of text, as a race and a sweep of the same models and settings show it."""

    raced: Kind
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
        verdict, swept = self.raced.verdict, self.swept
        prompts = ", ".join(self.raced.prompts)
        return " ".join(
            filter(
                None,
                [
                    f"{self.raced.title}: {verdict.speedup:.2f}× on Race ({verdict.judgement.said}), "
                    f"{swept.speedup:.2f}× on When it helps ({swept.outcome}).",
                    f"Race: {prompts} at γ = {self.draft_length}, timed {_times(self.repeats)}.",
                    f"When it helps: {_prompts(swept.prompts)} at {_lengths(swept.lengths)}, the draft length that did "
                    "best on the other prompts, each timed once.",
                    self._there(),
                    self._why(),
                    f"Also different: {'; '.join(self.elsewhere)}."
                    if self.elsewhere
                    else "The models, the machine and the number of tokens are the same.",
                ],
            )
        )

    def _there(self) -> str:
        if self.same_length is None:
            return f"There γ = {self.draft_length} was not measured."
        every = f"all {_prompts(self.same_length.prompts)} {self.same_length.speedup:.2f}×"
        if self.same_prompts is None:
            return f"There, at γ = {self.draft_length}, {every}."
        rates = [_percent(each.per_judgement_rate) for each in (self.same_prompts, self.same_length)]
        return (
            f"There, at γ = {self.draft_length}, {', '.join(self.raced.prompts)} alone has "
            f"{self.same_prompts.speedup:.2f}× ({rates[0]} of the checked guesses accepted) and {every} ({rates[1]})."
        )

    def _why(self) -> str:
        """What changes most: the prompts or the draft length; nothing where neither explains the direction."""
        if self.same_length is None or self.same_prompts is None:
            return ""
        total = math.log(self.swept.speedup / self.raced.verdict.speedup)
        changes = {
            "the choice of prompts": math.log(self.same_length.speedup / self.same_prompts.speedup),
            "the draft length": math.log(self.swept.speedup / self.same_length.speedup),
        }
        causes = [name for name, change in changes.items() if change * total > 0 and abs(change) > math.log(NEUTRAL)]
        causes.sort(key=lambda name: -abs(changes[name]))
        if not causes:
            return ""
        most, *rest = causes
        return f"Most of the difference is {most}{f', then {rest[0]}' if rest else ''}."


def beside(laps: Sequence[RaceLap], studies: Sequence[Study]) -> list[Beside]:
    """The kinds of text of a race that a sweep of the same models and settings has too; none without such a sweep."""
    wanted = _made_by(laps)
    study = next((each for each in studies if wanted == {name: getattr(each.series, name) for name in wanted}), None)
    if study is None:
        return []
    swept = {point.workload: point for point in each_row(study.fair)}
    return [_beside(kind, laps, study, swept[kind.name]) for kind in kinds_of(laps) if kind.name in swept]


def _made_by(laps: Sequence[RaceLap]) -> dict[str, object]:
    """What must be the same in both: the models in their number formats, and the settings that are not pooled."""
    run = laps[0].speculative
    assert run.drafter is not None
    models = run.target.name, run.target.dtype, run.drafter.name, run.drafter.dtype
    made = dict(zip((name for name in MADE_BY if name not in MACHINE), models, strict=True))
    return made | {name: getattr(run.settings, name) for name in SERIES if name not in MADE_BY}


def _beside(kind: Kind, laps: Sequence[RaceLap], study: Study, swept: Any) -> Beside:
    its = [lap for lap in laps if lap.name in kind.prompts]
    length = its[0].speculative.settings.draft_length
    fixed = of_kind(study.possible)
    there = fixed[(fixed["workload"] == kind.name) & (fixed["draft_length"] == length)]
    own = there[there["preset"].isin(kind.prompts)]
    known = own.drop_duplicates(PROMPT)["preset"].nunique() == len(kind.prompts)
    return Beside(
        kind, length, len(its[0].ratios), swept, _point(there), _point(own) if known else None, _elsewhere(its, study)
    )


def _point(rows: pd.DataFrame) -> Any | None:
    return None if rows.empty else next(iter(each_row(pooled(rows, ["workload"]))))


def _elsewhere(laps: Sequence[RaceLap], study: Study) -> list[str]:
    machine, series = laps[0].speculative.recorded_on, study.series
    found = []
    if (machine.machine, machine.threads) != (series.machine, series.threads):
        found.append(
            f"the machine ({machine.machine}, {_threads(machine.threads)} on Race; {series.machine}, "
            f"{_threads(series.threads)} on When it helps)"
        )
    raced, swept = laps[0].speculative.settings.max_new_tokens, sorted(set(study.rows["max_new_tokens"]))
    if swept != [raced]:
        found.append(f"the number of tokens ({raced} on Race; {', '.join(map(str, swept))} on When it helps)")
    return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _threads(count: int) -> str:
    return f"{count} {'thread' if count == 1 else 'threads'}"


def _prompts(count: int) -> str:
    return f"{count} {'prompt' if count == 1 else 'prompts'}"


def _lengths(lengths: Sequence[int]) -> str:
    return f"γ = {' or '.join(map(str, lengths))}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.0f} %"
