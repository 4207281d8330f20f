"""Loads the pair of models that the options name. torch is imported only here and after the options were checked."""

import argparse
from typing import TYPE_CHECKING

from specviz.cli.options import PROMPT_LOOKUP, settings_of
from specviz.cli.output import StatusLine
from specviz.core.errors import InputError
from specviz.core.request import exit_layers
from specviz.models.catalogue import bundled_names, check_heads, part_of_target

if TYPE_CHECKING:
    from specviz.decoding import Drafter
    from specviz.decoding.drafters.choose import Loaded
    from specviz.models import LoadedModel


def load_pair(options: argparse.Namespace, status: StatusLine) -> "tuple[LoadedModel, Drafter]":
    """The target and the drafter.

    Raises:
        InputError: a model cannot be loaded, or the two cannot work together.
    """
    target, draft = load_models(options, status)
    from specviz.decoding import fit_drafter  # imports torch

    return target, fit_drafter(target, draft, settings_of(options))


def load_models(
    options: argparse.Namespace, status: StatusLine, target: "LoadedModel | None" = None
) -> "tuple[LoadedModel, Loaded]":
    """Target and draft; the draft is None for prompt lookup. A target that is given is not loaded again.

    Raises:
        InputError: a model cannot be loaded, or the two cannot work together.
    """
    if options.threads < 1:
        raise InputError(f"--threads must be at least 1, not {options.threads}.")
    import torch  # takes seconds: bad input and commands without models must not wait for it

    from specviz.decoding.drafters.choose import load_draft
    from specviz.models import load_model

    torch.set_num_threads(options.threads)
    _check_pair(options, status)
    if target is None:
        status.show(f"loading {options.target}")
        target = load_model(options.target, options.target_dtype or options.dtype, status.show_download)
    if options.draft == PROMPT_LOOKUP:
        return target, None
    if part_of_target(options.draft):
        return target, load_draft(options.draft, target, options.draft_dtype or options.dtype)
    status.show(f"loading {options.draft}")
    return target, load_model(options.draft, options.draft_dtype or options.dtype, status.show_download)


def _check_pair(options: argparse.Namespace, status: StatusLine) -> None:
    """Refuse a pair that cannot work before anything is downloaded or loaded. Bundled pairs always work."""
    check_heads(options.target, options.draft)
    exit_layers(options.draft)  # a name without a number is refused before anything is loaded
    draft = None if options.draft == PROMPT_LOOKUP or part_of_target(options.draft) else options.draft
    if {options.target, draft} <= {None, *bundled_names()}:
        return
    from specviz.models.pairing import check_pair  # imports torch

    status.show("checking the pair")
    report = check_pair(
        options.target,
        draft,
        options.target_dtype or options.dtype,
        options.draft_dtype or options.dtype,
        greedy=options.temperature == 0,
        new_tokens=options.max_new_tokens,
    )
    if not report.ok:
        raise InputError(report.problems[0])
    for note in report.notes:
        status.note(note)
