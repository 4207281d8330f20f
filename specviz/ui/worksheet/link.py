"""The worksheet's values as the parameters of its address, and back. Reading trusts nothing. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.permalink import REAL
from specviz.ui.worksheet.model import BATCHES, MOST_COST, MOST_OVERHEAD, MOST_TOKENS, MOST_VERIFICATION, Model
from specviz.ui.worksheet.starts import Start

LABEL = "the values in the link"


@dataclass(frozen=True, slots=True)
class _Value:
    """One parameter: what it may be."""

    low: float
    high: float
    whole: bool = False
    among: Sequence[int] = ()

    def parse(self, text: str) -> float | None:
        """The number, None where it is none or outside its range."""
        if not (re.fullmatch(r"[0-9]{1,8}", text) if self.whole else REAL.fullmatch(text)):
            return None
        number = int(text) if self.whole else round(float(text), 3)
        fits = self.low <= number <= self.high and (not self.among or number in self.among)
        return number if fits else None

    @property
    def range(self) -> str:
        """What it may be, in words."""
        if self.among:
            return f"one of {', '.join(map(str, self.among))}"
        return f"a {'whole number' if self.whole else 'number'} from {self.low:g} to {_written(self.high)}"


VALUES = {
    "alpha": _Value(0, 1),
    "gamma": _Value(1, MAX_DRAFT_LENGTH, whole=True),
    "c": _Value(0, MOST_COST),
    "v": _Value(1, MOST_VERIFICATION),
    "o": _Value(0, MOST_OVERHEAD),
    "batch": _Value(1, BATCHES[-1], whole=True, among=BATCHES),
    "operations": _Value(0, 1),
    "drafted": _Value(0, MOST_TOKENS, whole=True),
    "accepted": _Value(0, MOST_TOKENS, whole=True),
}


def link_of_values(model: Model, drafted: int, accepted: int) -> dict[str, str]:
    """Every value, so that a link outlives another default."""
    values = {
        "alpha": model.alpha,
        "gamma": model.draft_length,
        "c": model.cost_ratio,
        "v": model.verification,
        "o": model.overhead,
        "batch": model.batch,
        "operations": model.operations_ratio,
        "drafted": drafted,
        "accepted": accepted,
    }
    return {name: _written(value) for name, value in values.items()}


def start_from_link(params: Mapping[str, Sequence[str]], default: Start) -> tuple[Start | None, list[str]]:
    """What an address asks for, and a line for each part of it that cannot be used: the default's value stands in.

    Args:
        params: the address's parameters, each with all its values; the last counts.
        default: what a missing or impossible value is taken from.

    Returns:
        None where the address names none of the worksheet's values.
    """
    values, problems = link_of_values(default.model, default.drafted, default.accepted), []
    given = {name: texts[-1] for name, texts in params.items() if name in VALUES and texts}
    for name, text in given.items():
        if VALUES[name].parse(text) is None:
            problems.append(f"The link’s {name} is not {VALUES[name].range}: using {values[name]}.")
        else:
            values[name] = text
    if not given:
        return None, []
    return _start(lambda name: VALUES[name].parse(values[name]) or 0), problems


def _start(number: Callable[[str], float]) -> Start:
    model = Model(
        number("alpha"),
        int(number("gamma")),
        number("c"),
        number("v"),
        number("o"),
        int(number("batch")),
        number("operations"),
    )
    source = "Acceptance and costs as the link has them."
    return Start(LABEL, source, model, int(number("drafted")), int(number("accepted")))


def _written(value: float) -> str:
    """The shortest text with three decimals at most: 1, not 1.0."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
