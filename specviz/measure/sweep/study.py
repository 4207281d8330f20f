"""Everything that the page says about a sweep's rows, computed once for each file and only where it is looked at."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import pandas as pd

from specviz.core.metrics import Costs
from specviz.measure.sweep.contrasts import with_rivals
from specviz.measure.sweep.points import (
    Series,
    adaptive_points,
    costs_of,
    fair_points,
    fair_rows,
    grammar_pairs,
    impossible,
    points,
    split_by_series,
)
from specviz.measure.sweep.predictions import predictions


class Study:
    """The rows of one series, and what they say."""

    def __init__(self, series: Series, rows: pd.DataFrame) -> None:
        self.series, self.rows = series, rows
        self.others: Sequence[Study] = ()  # the same pair at other temperatures

    @property
    def lookup(self) -> bool:
        """Whether prompt lookup drafts, so that a round often drafts fewer tokens than the draft length."""
        return self.series.draft_dtype is None

    @cached_property
    def spoilt(self) -> "pd.Series[bool]":
        """Which rows have an impossible time."""
        return impossible(self.rows)

    @cached_property
    def possible(self) -> pd.DataFrame:
        """The rows that figures are made of."""
        return self.rows[~self.spoilt]

    @cached_property
    def points(self) -> pd.DataFrame:
        """`points`, with `may_be_best`."""
        return with_rivals(points(self.possible), self.possible)

    @cached_property
    def fair_rows(self) -> pd.DataFrame:
        """Each prompt at the draft length that did best on the other prompts."""
        return fair_rows(self.possible)

    @cached_property
    def fair(self) -> pd.DataFrame:
        """These rows, pooled by workload."""
        return fair_points(self.fair_rows)

    @cached_property
    def costs(self) -> Costs | None:
        """c, v and o of these rows."""
        return costs_of(self.possible)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """What formulas predict for each row; needs `costs`."""
        assert self.costs is not None
        return predictions(self.possible, self.costs)

    @cached_property
    def grammar(self) -> pd.DataFrame:
        """Prompts with and without their grammar."""
        return grammar_pairs(self.possible)

    @cached_property
    def adaptive(self) -> pd.DataFrame:
        """Schedules beside fixed draft lengths."""
        return adaptive_points(self.possible)


def studies_of(rows: pd.DataFrame) -> list[Study]:
    """One for each series of the rows, each knowing the same pair at other temperatures."""
    studies = [Study(series, its) for series, its in split_by_series(rows).items()]
    pairs: dict[Series, list[Study]] = defaultdict(list)
    for study in studies:
        pairs[replace(study.series, temperature=0.0)].append(study)
    for same in pairs.values():
        for study in same:
            study.others = [other for other in same if other is not study]
    return studies
