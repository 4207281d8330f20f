"""A small comparison of methods, made by hand: no model, no clock."""

from specviz.core.trace import Machine
from specviz.data.measured.measured_methods import (
    ALL,
    BestSetting,
    KindFigures,
    MeasuredMethod,
    MeasuredMethods,
    MethodSetting,
    RoundCosts,
    SettingFigures,
    TemperatureFigures,
)

NAMES = (
    *("wren-nano", "wren-eagle", "wren-medusa", "prompt-lookup", "early-exit:4", "wren-nano tree"),
    *("wren-nano argmax", "wren-nano block"),
)


def costs_of(step: float | None = 0.1) -> RoundCosts:
    """Two tokens a call at these costs of a draft step."""
    return RoundCosts(2.0, 4.0, step, None if step is None else 4 * step, 1.5, 0.1)


def on_kind(speedup: float, half: float, step: float | None = 0.1, way: MethodSetting | None = None) -> KindFigures:
    """One setting on two prompts; the interval is `half` to both sides."""
    way = way or MethodSetting(4)
    at = SettingFigures(way, costs_of(step), [40, 30, 20, 10], [30, 15, 5, 0], speedup)
    return KindFigures(2, BestSetting([way, way], costs_of(step), speedup, speedup - half, speedup + half), [at])


def method(name: str, speedup: float = 1.5, half: float = 0.1) -> MeasuredMethod:
    """This method with the same figures on stories and on all kinds of text."""
    way = MethodSetting(2, "2,2") if name.endswith(" tree") else MethodSetting(4)
    found = on_kind(speedup, half, None if name == "prompt-lookup" else 0.1, way)
    return MeasuredMethod(name, {ALL: found, "story": found})


def measured(*speedups: float) -> MeasuredMethods:
    """The methods of NAMES with these speedups, the first ones twice as good as the last where none are given."""
    values = speedups or tuple(2.0 - 0.2 * place for place in range(len(NAMES)))
    methods = [method(name, value) for name, value in zip(NAMES, values, strict=False)]
    machine = Machine("a machine", "2", "5", 1)
    parts = [TemperatureFigures(0.0, 3.0, methods[:6]), TemperatureFigures(1.0, 3.0, methods)]
    return MeasuredMethods(1, "2026-01-01", machine, "wren-base", "float32", 8, 64, 1, parts)
