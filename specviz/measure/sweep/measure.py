"""Measures the cells of a sweep with the models in memory; `plan` says which cells there are."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import torch

from specviz.core.conversation import read_messages
from specviz.core.errors import InputError
from specviz.core.metrics import repetition
from specviz.core.settings import SETTINGS, DecodeSettings
from specviz.core.steps import Steps, result_of
from specviz.core.trace import Trace
from specviz.decoding import Drafter, fit_drafter
from specviz.decoding.drafters.choose import Loaded
from specviz.decoding.grammar import make_constraint
from specviz.measure.compare import PairedRuns, decode_seconds
from specviz.measure.sweep.plan import SweepCell, SweepPair, groups
from specviz.measure.sweep.prompt_files import say
from specviz.measure.sweep.rows import MADE_BY, MOST_TEXT, SweepRow, counted, spell
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel, chat_ids

Models = tuple[LoadedModel, Loaded]  # target, draft; None: prompt lookup


def sweep(
    cells: Sequence[SweepCell],
    load: Callable[[SweepPair], Models],
    done: Iterable[tuple[str, ...]] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> Iterator[SweepRow]:
    """Measure cells and yield their rows. Each key in `done` stands for one cell, which has a row already.

    InputError: a prompt does not fit, a pair cannot work together, or a grammar cannot be used.
    """
    number, known = 0, Counter(done)
    for pair, its_cells in groupby(cells, key=lambda cell: cell.pair):
        models = load(pair)
        chosen = list(its_cells)
        for cell in {cell.prompt: cell for cell in chosen}.values():  # refused, with its name, before any is measured
            drafter = fit_drafter(*models, cell.settings)
            drafter.check_tree(cell.settings)
            try:
                drafter.set_up(models[0], _prompt(models, cell), cell.settings)
            except InputError as error:
                raise InputError(f"Prompt {cell.prompt.name}: {error}") from error
        for numbered in groups(chosen):
            number += len(numbered)
            left = []
            for cell in numbered:
                key = cell_key(models, cell)
                known[key] -= 1  # a row stands for one cell
                left += [cell] if known[key] < 0 else []
            if left:
                progress(f"{left[0].label}: {number} of {len(cells)}")
                yield from result_of(measure(models, left))


def measure(models: Models, group: Sequence[SweepCell]) -> Steps[list[SweepRow]]:
    """The rows of one or two cells of a block, in their order.

    The run of the target alone is made between the two speculative runs it is compared with (speculative, plain,
    speculative): each pair is timed back to back, and a machine that slowly changes its speed changes both alike. A
    short untimed warm-up of both decoders goes before. The steps may be paused at any yield: that is between two timed
    rounds or plain steps.
    """
    first, settings = group[0], group[0].settings
    drafter = fit_drafter(*models, settings)
    yield from _runs(models, drafter, first).warm_up_steps()
    traces = [(yield from _runs(models, drafter, first).speculative_steps(settings))]
    plain = yield from _runs(models, drafter, first).plain_steps(settings)
    for cell in group[1:]:
        traces.append((yield from _runs(models, drafter, cell).speculative_steps(cell.settings)))
    made = dict(zip(MADE_BY, made_by(models), strict=True))
    return [_row(made, cell, trace, plain) for cell, trace in zip(group, traces, strict=True)]


def _runs(models: Models, drafter: Drafter, cell: SweepCell) -> PairedRuns:
    """With a new constraint, which is made before its run is timed."""
    prompt, constraint = _prompt(models, cell), None
    if cell.constrained and cell.prompt.grammar is not None:
        constraint = make_constraint(models[0], cell.prompt.grammar, prompt)
    return PairedRuns(models[0], drafter, prompt, cell.settings, constraint)


def _prompt(models: Models, cell: SweepCell) -> str | list[int]:
    """The text; a conversation as the token ids that the target's own chat template makes of it."""
    prompt = cell.prompt
    messages = prompt.messages or (read_messages(prompt.text) if cell.settings.prompt_format == "chat" else ())
    return chat_ids(models[0], messages) if messages else prompt.text


def made_by(models: Models) -> tuple[Any, ...]:
    """What all rows of these models have in common, as `MADE_BY` names it. InputError: a file may not hold a name."""
    target, draft = models
    drafter = fit_drafter(target, draft, DecodeSettings()).info
    if long := next((name for name in (target.name, drafter.name) if len(name) > MOST_TEXT), ""):
        raise InputError(f"{long}: {say('too_long', most=MOST_TEXT)}")
    threads, machine = torch.get_num_threads(), describe_machine().machine
    return target.name, target.info.dtype, drafter.name, drafter.dtype, threads, machine


def cell_key(models: Models, cell: SweepCell) -> tuple[str, ...]:
    """The key that the cell's row will have."""
    named = cell.prompt.name, cell.prompt.text_hash, cell.constrained
    return spell((*made_by(models), *named, *(getattr(cell.settings, name) for name in SETTINGS)))


def _row(made: dict[str, Any], cell: SweepCell, speculative: Trace, plain: Trace) -> SweepRow:
    settings = speculative.settings
    plain_seconds, seconds = decode_seconds(plain), decode_seconds(speculative)
    written, plainly = len(speculative.output.token_ids), len(plain.output.token_ids)
    return SweepRow(
        **made,
        workload=cell.prompt.workload,
        preset=cell.prompt.name,
        text_hash=cell.prompt.text_hash,
        constrained=cell.constrained,
        **asdict(settings),
        new_tokens=written,
        plain_tokens=plainly,
        **counted(speculative),
        autoregressive_seconds=plain_seconds,
        speculative_seconds=seconds,
        speedup=plain_seconds / seconds * written / plainly,
        identical=speculative.output.token_ids == plain.output.token_ids if settings.greedy else None,
        repetition=repetition(speculative.output.token_ids),
    )
