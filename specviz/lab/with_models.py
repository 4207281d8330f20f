"""A student's `judge` in the real loop, with the bundled models: a run that opens in the app like any other."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace
from specviz.data.prompts.workloads import DEFAULT_PRESET
from specviz.decoding.drafters.model import ModelDrafter
from specviz.decoding.drafters.protocol import Draft, pick_probabilities
from specviz.decoding.speculative import speculative_decode
from specviz.decoding.verification import Verification
from specviz.lab.draws import DRAFT_LENGTH, TESTED, DrawnPosition, LabDraws
from specviz.lab.exercise import StudentFunction
from specviz.lab.sampling import SamplingExercise
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.rows import BATCHES
from specviz.models.loading import load_model

TARGET, DRAFT, PROMPT = "wren-base", "wren-nano", DEFAULT_PRESET.text


class StudentRule:
    """Verifies with a student's function, which sees lists of numbers and not tensors."""

    def __init__(self, judge: StudentFunction, seed: int) -> None:
        self._judge = judge
        self._generator = torch.Generator().manual_seed(seed)

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        p = target_scores.tolist()
        q = draft.draft_scores.tolist() if draft.draft_scores is not None else []  # nothing drafted before the end
        accepted, token = self._asked(list(draft.token_ids), q, p)
        judged = min(accepted + 1, len(draft.token_ids))
        probs = zip(pick_probabilities(target_scores, draft.token_ids), draft.token_probs, strict=True)
        return Verification(accepted, token, [min(1.0, a / b) for a, b in probs][:judged])

    def _asked(self, drafted: list[int], q: list[list[float]], p: list[list[float]]) -> tuple[int, int]:
        try:
            accepted, token = self._judge(drafted, q, p, self._uniform)
        except (Exception, SystemExit) as error:  # a student's function may do anything
            raise InputError(f"judge ends in {type(error).__name__} with real models: {str(error)[:200]}.") from None
        return _whole(accepted, "accepted", len(drafted)), _whole(token, "token", len(p[0]) - 1)

    def _uniform(self) -> float:
        return float(torch.rand(1, generator=self._generator, dtype=torch.float64))


def _whole(value: Any, name: str, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(f"judge gives {str(value)[:60]} for {name} with real models; it must be from 0 to {most:,}.")
    return value


def decode_with(judge: StudentFunction, settings: DecodeSettings, prompt: str = PROMPT) -> Trace:
    """A run of the bundled pair whose drafts this function judges. InputError: it fails, or gives what cannot be."""
    rule = StudentRule(judge, settings.seed)
    return speculative_decode(load_model(TARGET), ModelDrafter(load_model(DRAFT)), prompt, settings, rule=rule)


def draw_with(judge: StudentFunction, settings: DecodeSettings, draws: int, prompt: str = PROMPT) -> LabDraws:
    """The first tokens, each drawn so many times with drafts that this function judges. InputError as above."""
    positions = list[DrawnPosition]()
    for position in TESTED:
        rule, how = StudentRule(judge, settings.seed), replace(settings, draft_length=DRAFT_LENGTH)
        source = Draws(load_model(TARGET), load_model(DRAFT), prompt, how, rule, position)
        drawn = draw_batches(source, settings.seed, draws // BATCHES, range(BATCHES))
        positions.append(DrawnPosition(position, [batch for batch in drawn if batch]))
    return LabDraws(positions, SamplingExercise().check(judge).kind)
