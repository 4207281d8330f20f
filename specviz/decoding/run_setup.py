"""What both decoders do before the first step: tokenize the prompt and check that the run fits the models."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from specviz.core.conversation import read_messages
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings, PromptFormat
from specviz.core.texts import Sentences
from specviz.core.trace import SCHEMA, Autoregressive, DrafterInfo, Output, PrefillSeconds, Prompt, Round, Trace
from specviz.models.devices import WORKING_ROOM, describe_machine, shortage
from specviz.models.loaded_model import LoadedModel, chat_ids
from specviz.models.pairing import shared_vocabulary
from specviz.models.tokens import TokenTexts

say = Sentences("decoding")


@dataclass(frozen=True, slots=True)
class RunSetup:
    target: LoadedModel
    settings: DecodeSettings
    prompt: Prompt
    vocabulary: int  # number of logits that stand for tokens
    token_texts: TokenTexts
    ends: frozenset[int]  # ids that end the output; empty when end of text is ignored
    created: str

    def trace(
        self,
        drafter: DrafterInfo | None,
        prefill: PrefillSeconds,
        rounds: Sequence[Round],
        autoregressive: Autoregressive | None,
        written: list[int],
    ) -> Trace:
        """The run so far as a trace; `written` is the output's token ids."""
        return Trace(
            schema=SCHEMA,
            created=self.created,
            recorded_on=describe_machine(),
            target=self.target.info,
            drafter=drafter,
            settings=self.settings,
            prompt=self.prompt,
            prefill_seconds=prefill,
            rounds=list(rounds),
            autoregressive=autoregressive,
            output=self._output(written),
        )

    def _output(self, written: list[int]) -> Output:
        text = self.target.tokens.decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if written and written[-1] in self.ends:
            return Output(written, str(text), "eos")
        return Output(written, str(text), "length" if len(written) == self.settings.max_new_tokens else None)


def set_up_run(
    target: LoadedModel, draft: LoadedModel | None, prompt: str | Sequence[int], settings: DecodeSettings
) -> RunSetup:
    vocabulary = shared_vocabulary(target, draft)
    token_texts = TokenTexts(target.tokens)
    token_ids = prompt_ids(target, prompt, vocabulary, settings.prompt_format)
    for loaded in (target, draft):
        if loaded and settings.tree and loaded.llama is None:
            raise InputError(say("no_early_exit", model=loaded.name))
        if loaded and len(token_ids) + settings.max_new_tokens > loaded.context:
            count, new = len(token_ids), settings.max_new_tokens
            raise InputError(say("no_fit", count=count, new=new, model=loaded.name, context=loaded.context))
    # The target has two caches: both decoders may be at work at once. A full GPU is an error that the run reports.
    # A full main memory ends the process, so only that is checked.
    caches = [model for model in (target, target, draft) if model and model.device.type != "cuda"]
    length = len(token_ids) + settings.max_new_tokens
    needed = length * sum(model.cache_bytes_per_token for model in caches)
    if short := shortage(int(needed * WORKING_ROOM)):
        read, new = len(token_ids), settings.max_new_tokens
        raise InputError(say("no_memory", read=read, new=new, needed=short[0], room=short[1]))
    text = prompt if isinstance(prompt, str) else str(target.tokens.decode(token_ids))
    shown = Prompt(text, token_ids, [token_texts[token_id] for token_id in token_ids])
    ends = target.end_ids if settings.stop_at_eos else frozenset[int]()
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return RunSetup(target, settings, shown, vocabulary, token_texts, ends, created)


def prompt_ids(
    target: LoadedModel, prompt: str | Sequence[int], vocabulary: int, prompt_format: PromptFormat = "raw"
) -> list[int]:
    if isinstance(prompt, str) and prompt_format == "chat":
        token_ids = chat_ids(target, read_messages(prompt))
    elif isinstance(prompt, str):
        # A special token spelled out in a prompt is text like any other.
        token_ids = list(target.tokens(prompt, split_special_tokens=True)["input_ids"]) if prompt else []
    else:
        token_ids = [int(token_id) for token_id in prompt]
    if not token_ids:
        raise InputError(say("empty_prompt"))
    wrong = next((token_id for token_id in token_ids if not 0 <= token_id < vocabulary), None)
    if wrong is not None:
        token = target.tokens.convert_ids_to_tokens(wrong) if 0 <= wrong < len(target.tokens) else None
        written = f"{wrong} ({token!r:.40})" if token else wrong
        raise InputError(say("outside", token=written, most=vocabulary - 1, model=target.name))
    return token_ids


def cut_at_end(token_ids: list[int], ends: frozenset[int]) -> list[int]:
    return token_ids[: next((i + 1 for i, token_id in enumerate(token_ids) if token_id in ends), None)]
