"""Records transformers' own assisted generation as a trace: what was proposed, what was accepted, how long it took.

Read in transformers 5.23, `src/transformers/generation`: `_assisted_decoding` and `_get_candidate_generator` in
utils.py, the candidate generators in candidate_generator.py. In each round it calls the generator's `get_candidates`,
then the target once, then the generator's `update_candidate_strategy`. These two methods of the generator are listened
to, and hooks of PyTorch tell when the target's pass begins and ends. The models' `forward` stays as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers.generation.candidate_generator import (
    AssistedCandidateGenerator,
    EarlyExitCandidateGenerator,
    PromptLookupCandidateGenerator,
)

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH, MAX_NODES, DecodeSettings, DraftSchedule
from specviz.core.trace import (
    SCHEMA,
    DrafterInfo,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Round,
    SourceSystem,
    Trace,
)
from specviz.decoding.drafters.protocol import Draft, pick_probabilities
from specviz.decoding.recording import Recorder, RoundSeconds
from specviz.decoding.sampler import Sampling
from specviz.decoding.verification import Verification, residual
from specviz.models.catalogue import bundled_names, weights_hash
from specviz.models.devices import describe_machine, device_name
from specviz.models.loaded_model import TRANSFORMERS
from specviz.models.tokens import TokenTexts

FACTORY = "_get_candidate_generator"  # the model's method that makes the generator of a run


@contextmanager
def record_assisted_generation(model: Any, tokenizer: Any) -> Iterator["AssistedRecording"]:
    """Record what `model.generate(..., assistant_model=...)` or `(..., prompt_lookup_num_tokens=...)` does inside.

        with record_assisted_generation(model, tokenizer) as recording:
            model.generate(**inputs, assistant_model=assistant, max_new_tokens=64)
        trace = recording.trace

    The ids that `generate` returns are those it returns without recording: no random number is drawn here. `model` is
    the target, with its tokenizer for the texts of tokens. Raises InputError: this version of transformers makes its
    candidates in another way.
    """
    make = getattr(model, FACTORY, None)
    if make is None:
        raise InputError(f"{type(model).__name__} has no {FACTORY}: assisted runs are recorded with transformers 5.23.")
    before = vars(model).get(FACTORY)
    recording = AssistedRecording(model, tokenizer)

    def make_and_listen(*arguments: Any, **options: Any) -> Any:
        generator = make(*arguments, **options)
        recording.listen(generator, options["generation_config"], options["input_ids"])
        return generator

    setattr(model, FACTORY, make_and_listen)
    hooks = [model.register_forward_pre_hook(recording.pass_begins), model.register_forward_hook(recording.pass_ends)]
    try:
        yield recording
    finally:
        for hook in hooks:
            hook.remove()
        delattr(model, FACTORY)
        if before is not None:
            setattr(model, FACTORY, before)


class AssistedRecording:
    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.pass_seconds = 0.0  # of the model's last pass
        self._runs: list[_Run] = []

    @property
    def traces(self) -> list[Trace]:
        """A trace of each call of `generate` that wrote something, in their order.

        transformers reads the prompt in the passes of the first round, so the times of that round include it, and the
        time for the prompt alone is not known. There is no run of the target alone beside it. Raises InputError: a run
        cannot be a trace.
        """
        return [run.trace() for run in self._runs if run.rounds]

    @property
    def trace(self) -> Trace:
        """The trace of the last call of `generate`; see `traces`. Raises InputError also where nothing was recorded."""
        traces = self.traces
        if not traces:
            raise InputError(
                "Nothing was recorded: inside the with block, call generate of the same model, with assistant_model or "
                "prompt_lookup_num_tokens."
            )
        return traces[-1]

    def listen(self, generator: Any, config: Any, input_ids: Tensor) -> None:
        self._runs.append(_Run(self, generator, config, input_ids[0].tolist()))

    def pass_begins(self, *_: object) -> None:
        self._pass_began = self.now()

    def pass_ends(self, *_: object) -> None:
        self.pass_seconds = self.now() - self._pass_began

    def now(self) -> float:
        if self.model.device.type != "cpu":
            torch.accelerator.synchronize()
        return perf_counter()


FIRST_ROUND = "transformers reads the prompt in the passes of the first round: the times of that round include it."
DRAWS = "transformers does not report the random numbers that it drew."


class _Run:
    """One call of `generate`: listens to its candidate generator and makes a `Round` of each of its rounds."""

    def __init__(self, recording: AssistedRecording, generator: Any, config: Any, prompt: list[int]) -> None:
        """`config` is the `GenerationConfig` of the call, with its defaults filled in."""
        self.rounds: list[Round] = []
        self._recording, self._generator = recording, generator
        self._config, self._prompt = config, prompt
        self._greedy = not config.do_sample
        self._created = datetime.now(UTC).isoformat(timespec="seconds")
        self._texts = TokenTexts(recording.tokenizer)
        # Scores are probabilities: transformers has applied temperature, top-k and top-p by then.
        self._recorder = Recorder(self._texts, Sampling(DecodeSettings(temperature=1), torch.Generator()), True)
        self._propose, self._update = generator.get_candidates, generator.update_candidate_strategy
        generator.get_candidates = self.get_candidates
        generator.update_candidate_strategy = self.update_candidate_strategy

    def get_candidates(self, input_ids: Tensor, **options: Any) -> tuple[Tensor, Tensor | None]:
        """The generator's own, timed. An early exit calls the target too, before the pass that verifies."""
        self._began = self._recording.now()
        candidates: tuple[Tensor, Tensor | None] = self._propose(input_ids, **options)
        self._drafted = self._recording.now()
        self._length, self._candidates = input_ids.shape[1], candidates
        return candidates

    def update_candidate_strategy(self, input_ids: Tensor, scores: Tensor, num_matches: int) -> None:
        """The generator's own, then the round is recorded. The clock of the round has stopped by then.

        Args:
            input_ids: the text with what this round wrote, (1, length).
            scores: the target's logits after transformers' processors, (1, n + 1, vocabulary).
        """
        self._update(input_ids, scores, num_matches)
        draft_seconds, verify_seconds = self._drafted - self._began, self._recording.pass_seconds
        rest = self._recording.now() - self._began - draft_seconds - verify_seconds
        seconds = RoundSeconds(draft_seconds, verify_seconds, max(0.0, rest))  # rounding may make it less than 0
        target = _probabilities(scores[0], scores.shape[-1])
        draft = self._draft(target.shape[-1])
        emitted: list[int] = input_ids[0, self._length :].tolist()
        verification = verification_of(draft, target, emitted, greedy=self._greedy)
        self.rounds.append(self._recorder.round(len(self.rounds), seconds, draft, target, verification, emitted))

    def _draft(self, vocabulary: int) -> Draft:
        """The candidates of this round, with q where it is known: prompt lookup has none, its guesses are certain."""
        ids, logits = self._candidates
        guesses: list[int] = ids[0, self._length :].tolist()
        if logits is not None and guesses and logits.shape[1] >= len(guesses):
            return Draft(guesses, _probabilities(logits[0, : len(guesses)], vocabulary))
        certain = isinstance(self._generator, PromptLookupCandidateGenerator)
        return Draft(guesses, None, own_tokens=None if certain or not guesses else [])

    def trace(self) -> Trace:
        if not self._prompt:
            raise InputError("This run has no prompt of token ids: call generate with input_ids.")
        longest = max(len(round.drafted) for round in self.rounds)
        if longest > MAX_NODES:
            raise InputError(
                f"A round of this run drafted {longest} tokens, and a trace has at most {MAX_NODES} a round."
            )
        written = [token_id for round in self.rounds for token_id in round.emitted_ids]
        text = self._recording.tokenizer.decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        system = f"transformers {version('transformers')}"
        ends = self._config.eos_token_id
        stopped_by: Literal["eos", "length", "other"] = "length" if len(written) == self._limit else "other"
        if written[-1] in ([ends] if isinstance(ends, int) else ends or []):
            stopped_by = "eos"
        notes, unknown = ([FIRST_ROUND], []) if self._greedy else ([FIRST_ROUND, DRAWS], ["seed"])
        pieces = [self._texts[token_id] for token_id in self._prompt]
        return Trace(
            schema=SCHEMA,
            created=self._created,
            recorded_on=describe_machine(),
            target=model_info(self._recording.model),
            drafter=drafter_info(self._generator),
            settings=self._settings(longest),
            prompt=Prompt(str(self._recording.tokenizer.decode(self._prompt)), self._prompt, pieces),
            prefill_seconds=PrefillSeconds(None, None),  # the first round's two passes read the prompt too
            rounds=list(self.rounds),
            autoregressive=None,
            output=Output(written, str(text), stopped_by),
            imported=SourceSystem(system, notes, unknown),
        )

    def _settings(self, longest: int) -> DecodeSettings:
        """The settings of the run in the words of this project.

        transformers draws from torch's global generator, so the seed is not known. What its other processors
        did to the logits (a repetition penalty, min-p) is in the recorded probabilities only.
        """
        config = self._config
        asked = getattr(self._generator, "num_output_tokens", None)
        schedule: DraftSchedule = "fixed"
        if isinstance(self._generator, AssistedCandidateGenerator):
            drafting = self._generator.assistant_generation_config
            asked = drafting.num_assistant_tokens
            if drafting.num_assistant_tokens_schedule in {"heuristic", "heuristic_transient"}:
                schedule = "heuristic"
            elif drafting.assistant_confidence_threshold:
                schedule = "confidence"
        length = min(int(asked or longest or 1), MAX_DRAFT_LENGTH)  # rounds of an imported run may be longer
        settings = DecodeSettings(max_new_tokens=self._limit, draft_length=length, draft_schedule=schedule)
        if self._greedy:
            return settings
        return replace(
            settings,
            temperature=1.0 if config.temperature is None else float(config.temperature),
            top_k=config.top_k or None,
            top_p=config.top_p if config.top_p is not None and config.top_p < 1 else None,
        )

    @property
    def _limit(self) -> int:
        """The most new tokens that were asked for; `generate` makes a total length of it."""
        return int(self._config.max_length) - len(self._prompt)


def verification_of(draft: Draft, target: Tensor, emitted: list[int], *, greedy: bool) -> Verification:
    """What transformers decided in a round, from what it wrote; `target` are probabilities, (n + 1, vocabulary).

    It does not say how many candidates it accepted where an end of text or the length limit cut the round short. But a
    token that replaces a rejected one is never equal to it: then the last token written is an accepted candidate.
    """
    count, last = len(draft.token_ids), len(emitted) - 1
    ended = last < count and emitted[last] == draft.token_ids[last]
    accepted = last + ended
    judged = min(accepted + (not ended), count)
    if greedy:
        return Verification(accepted, emitted[-1], [1.0] * accepted + [0.0] * (judged - accepted))
    p, q = pick_probabilities(target, draft.token_ids)[:judged], draft.token_probs
    accept_probs = [min(1.0, each / q[place]) if q[place] else 1.0 for place, each in enumerate(p)]
    rest = residual(target[last], draft, last) if judged > accepted else None
    return Verification(accepted, emitted[-1], accept_probs, residual=rest)


def _probabilities(logits: Tensor, vocabulary: int) -> Tensor:
    """The softmax of each row on the CPU, (n, vocabulary): models of one family may be padded to different sizes."""
    rows = logits.detach().float().softmax(-1).cpu()
    return pad(rows, (0, vocabulary - rows.shape[-1]))


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
        return model_info(generator.assistant_model).make_drafter_info("model")
    return DrafterInfo("other", type(generator).__name__)
