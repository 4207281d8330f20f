"""What a trace says about an assisted run of transformers besides its rounds: models, settings, prompt, output.

The names are those of transformers 5.23, `src/transformers/generation/candidate_generator.py` and
`configuration_utils.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from transformers.generation.candidate_generator import (
    AssistedCandidateGenerator,
    EarlyExitCandidateGenerator,
    PromptLookupCandidateGenerator,
)

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule
from specviz.core.trace import (
    SCHEMA,
    DrafterInfo,
    Imported,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Round,
    Trace,
)
from specviz.core.tree_shape import MAX_NODES
from specviz.models.catalogue import bundled_names, weights_hash
from specviz.models.devices import describe_machine, device_name
from specviz.models.forward import TRANSFORMERS
from specviz.models.tokens import TokenTexts

FIRST_ROUND = "transformers reads the prompt in the passes of the first round: the times of that round include it."
DRAWS = "transformers does not report the random numbers that it drew."


@dataclass(frozen=True, slots=True)
class RunFacts:
    model: Any  # the target
    generator: Any  # of the candidates
    config: Any  # the GenerationConfig of the call, with its defaults filled in
    prompt: list[int]
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def greedy(self) -> bool:
        return not self.config.do_sample


def trace_of(facts: RunFacts, tokenizer: Any, rounds: Sequence[Round]) -> Trace:
    """The whole run as a trace."""
    if not facts.prompt:
        raise InputError("This run has no prompt of token ids: call generate with input_ids.")
    longest = max(len(round.drafted) for round in rounds)
    if longest > MAX_NODES:
        raise InputError(f"A round of this run drafted {longest} tokens, and a trace has at most {MAX_NODES} a round.")
    texts, written = TokenTexts(tokenizer), [token_id for round in rounds for token_id in round.emitted_ids]
    text = tokenizer.decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return Trace(
        schema=SCHEMA,
        created=facts.created,
        recorded_on=describe_machine(),
        target=model_info(facts.model),
        drafter=drafter_info(facts.generator),
        settings=settings_of(facts, longest),
        prompt=Prompt(str(tokenizer.decode(facts.prompt)), facts.prompt, [texts[each] for each in facts.prompt]),
        prefill_seconds=PrefillSeconds(None, None),  # the first round's two passes read the prompt too
        rounds=list(rounds),
        autoregressive=None,
        output=Output(written, str(text), _stopped_by(facts, written)),
        imported=_imported(facts),
    )


def model_info(model: Any) -> ModelInfo:
    """A model as transformers knows it. A folder is named by its last part."""
    source = str(getattr(model.config, "name_or_path", "") or "")
    folder = Path(source)
    local = bool(source) and folder.is_dir()
    name = (folder.resolve().name if local else source) or type(model).__name__
    ours = local and name in bundled_names()  # the weights of these are compared later
    digest = weights_hash(folder) if ours else str(getattr(model.config, "_commit_hash", None) or "")[:16]
    return ModelInfo(
        name=name,
        parameters=int(model.num_parameters()),
        dtype=str(model.dtype).removeprefix("torch."),
        weights_hash=digest,
        forward=TRANSFORMERS,
        device=device_name(model.device),
    )


def drafter_info(generator: Any) -> DrafterInfo:
    if isinstance(generator, PromptLookupCandidateGenerator):
        return DrafterInfo("prompt-lookup", f"prompt lookup, n-grams up to {generator.max_matching_ngram_size}")
    if isinstance(generator, EarlyExitCandidateGenerator):
        return DrafterInfo("early-exit", f"early-exit:{generator.assistant_early_exit}", forward=TRANSFORMERS)
    if isinstance(generator, AssistedCandidateGenerator):
        return model_info(generator.assistant_model).as_drafter("model")
    return DrafterInfo("other", type(generator).__name__)


def settings_of(facts: RunFacts, longest: int) -> DecodeSettings:
    """The settings of the run in the words of this project.

    transformers draws from torch's global generator, so the seed is not known. What its other processors
    did to the logits (a repetition penalty, min-p) is in the recorded probabilities only.
    """
    config, generator = facts.config, facts.generator
    asked = getattr(generator, "num_output_tokens", None)
    if isinstance(generator, AssistedCandidateGenerator):
        asked = generator.assistant_generation_config.num_assistant_tokens
    schedule = _schedule(generator)
    length = min(int(asked or longest or 1), MAX_DRAFT_LENGTH)  # rounds of an imported run may be longer
    sampled = not facts.greedy
    return DecodeSettings(
        max_new_tokens=_limit(facts),
        draft_length=length,
        temperature=_or(config.temperature, 1.0) if sampled else 0.0,
        top_k=config.top_k or None if sampled else None,
        top_p=config.top_p if sampled and _or(config.top_p, 1.0) < 1 else None,
        draft_schedule=schedule,
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def _schedule(generator: Any) -> DraftSchedule:
    if not isinstance(generator, AssistedCandidateGenerator):
        return "fixed"
    config = generator.assistant_generation_config
    if config.num_assistant_tokens_schedule in {"heuristic", "heuristic_transient"}:
        return "heuristic"
    return "confidence" if config.assistant_confidence_threshold else "fixed"


def _imported(facts: RunFacts) -> Imported:
    system = f"transformers {version('transformers')}"
    return Imported(system, [FIRST_ROUND], []) if facts.greedy else Imported(system, [FIRST_ROUND, DRAWS], ["seed"])


def _stopped_by(facts: RunFacts, written: list[int]) -> Literal["eos", "length", "other"]:
    """Why the run ended; other: a stopping criterion of the call."""
    if written[-1] in _end_ids(facts.config):
        return "eos"
    return "length" if len(written) == _limit(facts) else "other"


def _end_ids(config: Any) -> set[int]:
    ends = config.eos_token_id
    return set() if ends is None else {ends} if isinstance(ends, int) else set(ends)


def _limit(facts: RunFacts) -> int:
    """The most new tokens that were asked for; `generate` makes a total length of it."""
    return int(facts.config.max_length) - len(facts.prompt)
