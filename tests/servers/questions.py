"""What every server is asked, and how each server is started.

Both models ship with this project: wren-nano drafts 4 tokens for wren-base, which knows 512 positions.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Encode = Callable[[str], list[int]]
TARGET, DRAFT, DRAFT_LENGTH, CONTEXT = "wren-base", "wren-nano", 4, 512
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"  # the wren models have none
STORY = (
    "Once upon a time, there was a little girl named Lily. She loved to play with her toys and eat yummy food. One "
    "day, she found a big, red ball in her room. She was very happy and wanted to play with it.\nLily took the ball to "
    "her room and started to play with it. She threw it, and it went into the room. She was very happy and played with "
    "the ball all day long.\nBut then, something unexpected happened. The ball started to move! It was not a ball, but "
    "a big, red ball. Lily was very surprised. She played with the ball all day long. The ball went into the room and "
    "turned into a big, red ball. Lily was so happy and"
)
OPENING = STORY[: STORY.index(",")]
ENDING = " played with the ball all day long."  # after it the first token is the end of the text
HALF = '     "BillingAddress": "Rua dos'  # after it both models write “õ”, a character of two tokens
OTHERS = ("The dog ran to the park and", "def add(a, b):\n    return")


@dataclass(frozen=True, slots=True)
class Question:
    """One request, under the name of the file that holds its answer."""

    name: str
    body: Mapping[str, Any]
    path: str = "/v1/completions"

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True, slots=True)
class Batch:
    """What is asked between two readings of the server's counters."""

    questions: Sequence[Question]
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Setup:
    """A server, and what it is asked: the batches one after the other."""

    system: str  # vllm or llama.cpp
    name: str
    options: Sequence[str]
    batches: Sequence[Batch]

    @property
    def stem(self) -> str:
        return f"{self.system}-{VERSIONS[self.system]}-{self.name}"


VERSIONS = {"vllm": "0.32", "llama.cpp": "11434"}
STREAM: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
ASKED: dict[str, dict[str, Any]] = {
    "vllm": {"return_token_ids": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}},
    "llama.cpp": {"return_tokens": True, "timings_per_token": True},
}
GREEDY: dict[str, Any] = {"model": TARGET, "temperature": 0, "max_tokens": 24, "ignore_eos": True}


def setups(encode: Encode) -> list[Setup]:
    """Every server, and what it is asked. `encode` gives the ids of a text, as the models read it."""
    return [
        Setup(system, name, options, _batches(system, name, encode))
        for system, started in OPTIONS.items()
        for name, options in started.items()
    ]


DRAFT_MODEL = {"method": "draft_model", "model": f"models/{DRAFT}", "num_speculative_tokens": DRAFT_LENGTH}
LOOKUP = {"method": "ngram", "num_speculative_tokens": DRAFT_LENGTH, "prompt_lookup_max": 3, "prompt_lookup_min": 2}
REPORT = "--per-request-spec-decode-metrics detailed --speculative-config"
OF_DRAFT = f"--spec-type draft-simple -md {DRAFT}.gguf -ctkd f32 -ctvd f32 -td 1 --spec-draft-n-max {DRAFT_LENGTH}"
OF_LOOKUP = f"--spec-type ngram-simple --spec-ngram-simple-size-n 2 --spec-ngram-simple-size-m {DRAFT_LENGTH}"
OPTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "vllm": {
        "draft": [*REPORT.split(), json.dumps(DRAFT_MODEL)],
        "ngram": [*REPORT.split(), json.dumps(LOOKUP)],
        "plain": [],
    },
    "llama.cpp": {"draft": OF_DRAFT.split(), "ngram": OF_LOOKUP.split(), "plain": []},
}


def _batches(system: str, name: str, encode: Encode) -> list[Batch]:
    """Prompts are ids, so that no server cuts a text in another way than the others."""
    streamed = GREEDY | STREAM | ASKED[system]
    free = {key: value for key, value in streamed.items() if key != "ignore_eos"}
    opening, story = encode(OPENING), encode(STORY)
    prompts = (story[:80], *map(encode, OTHERS))
    several = [Question(f"several-{number}", streamed | {"prompt": ids}) for number, ids in enumerate(prompts, start=1)]
    found = [Batch([Question("greedy", streamed | {"prompt": opening})]), Batch(several, at_once=True)]
    if name == "plain":
        return found
    others = [
        Question("temperature", streamed | {"prompt": opening, "temperature": 0.8, "seed": 7}),
        Question("end", free | {"prompt": story, "max_tokens": 40}),  # the third of a draft's 4 tokens ends the text
    ]
    if name == "draft":
        others += _others(system, streamed, opening, encode)
        others += [Question("ended", free | {"prompt": encode(STORY + ENDING)})]
    return [*found, Batch(others), *([Batch(_errors(system, streamed, opening))] if name == "draft" else [])]


def _others(system: str, streamed: dict[str, Any], opening: list[int], encode: Encode) -> list[Question]:
    chat = {"messages": [{"role": "user", "content": OPENING}]}
    whole = {key: value for key, value in streamed.items() if not key.startswith("stream")}
    found = [
        Question("chat", streamed | chat, "/v1/chat/completions"),
        Question("cut", streamed | {"prompt": opening, "max_tokens": 13}),  # the third draft has room for 2 tokens
        Question("half", streamed | {"prompt": encode(HALF)}),
        Question("whole", whole | {"prompt": opening}),
        Question("whole-chat", whole | chat, "/v1/chat/completions"),
    ]
    if system == "llama.cpp":
        asked = {"native": opening, "half-native": encode(HALF)}
        found += [
            Question(name, streamed | {"prompt": prompt, "n_predict": 24}, "/completion")
            for name, prompt in asked.items()
        ]
    return found


def _errors(system: str, streamed: dict[str, Any], opening: list[int]) -> list[Question]:
    """llama.cpp answers under any name of a model, and writes until its context is full."""
    found = [
        Question("error-long", streamed | {"prompt": [opening[0]] * (CONTEXT + 88)}),
        Question("error-type", streamed | {"prompt": opening, "max_tokens": "many"}),
        Question("error-path", streamed | {"prompt": opening}, "/v1/completion"),
        Question("other-model", streamed | {"prompt": opening, "model": "no-such-model", "max_tokens": 4}),
    ]
    if system == "vllm":
        found += [Question("error-tokens", streamed | {"prompt": opening, "max_tokens": CONTEXT + 88})]
    return found
