"""What every server is asked, and how each server is started.

Both models ship with this project: wren-nano drafts 4 tokens for wren-base, which knows 512 positions.
"""

import json
from collections.abc import Callable
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
    body: dict[str, Any]
    path: str = "/v1/completions"


@dataclass(frozen=True, slots=True)
class Setup:
    """A server, and what it is asked: its counters are read after each batch. The batch of `several` is at once."""

    system: str  # vllm or llama.cpp
    name: str
    options: list[str]
    batches: list[list[Question]]

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
DRAFT_MODEL = {"method": "draft_model", "model": f"models/{DRAFT}", "num_speculative_tokens": DRAFT_LENGTH}
LOOKUP = {"method": "ngram", "num_speculative_tokens": DRAFT_LENGTH, "prompt_lookup_max": 3, "prompt_lookup_min": 2}
REPORT = ["--per-request-spec-decode-metrics", "detailed", "--speculative-config"]
OF_DRAFT = f"--spec-type draft-simple -md {DRAFT}.gguf -ctkd f32 -ctvd f32 -td 1 --spec-draft-n-max {DRAFT_LENGTH}"
OF_LOOKUP = f"--spec-type ngram-simple --spec-ngram-simple-size-n 2 --spec-ngram-simple-size-m {DRAFT_LENGTH}"
OPTIONS: dict[tuple[str, str], list[str]] = {
    ("vllm", "draft"): [*REPORT, json.dumps(DRAFT_MODEL)],
    ("vllm", "ngram"): [*REPORT, json.dumps(LOOKUP)],
    ("vllm", "plain"): [],
    ("llama.cpp", "draft"): OF_DRAFT.split(),
    ("llama.cpp", "ngram"): OF_LOOKUP.split(),
    ("llama.cpp", "plain"): [],
}


def setups(encode: Encode) -> list[Setup]:
    """Every server, and what it is asked. `encode` gives the ids of a text, as the models read it."""
    return [Setup(*which, options, _batches(*which, encode)) for which, options in OPTIONS.items()]


def _batches(system: str, name: str, encode: Encode) -> list[list[Question]]:
    """Prompts are ids, so that no server cuts a text in another way than the others."""
    streamed = GREEDY | STREAM | ASKED[system]
    opening, story, half = encode(OPENING), encode(STORY), encode(HALF)
    greedy = streamed | {"prompt": opening}
    free = {key: value for key, value in streamed.items() if key != "ignore_eos"}
    whole = {key: value for key, value in streamed.items() if not key.startswith("stream")}
    chat = {"messages": [{"role": "user", "content": OPENING}]}
    prompts = (story[:80], *map(encode, OTHERS))
    several = [Question(f"several-{number}", streamed | {"prompt": ids}) for number, ids in enumerate(prompts, start=1)]
    found = [[Question("greedy", greedy)], several]
    others = [
        Question("temperature", greedy | {"temperature": 0.8, "seed": 7}),
        Question("end", free | {"prompt": story, "max_tokens": 40}),  # the third of a draft's 4 tokens ends the text
    ]
    if name != "draft":
        return [*found, others] if name == "ngram" else found
    others += [
        Question("chat", streamed | chat, "/v1/chat/completions"),
        Question("cut", greedy | {"max_tokens": 13}),  # the third draft has room for 2 tokens
        Question("half", streamed | {"prompt": half}),
        Question("whole", whole | {"prompt": opening}),
        Question("whole-chat", whole | chat, "/v1/chat/completions"),
        Question("ended", free | {"prompt": encode(STORY + ENDING)}),
    ]
    # llama.cpp answers under any name of a model, and writes until its context is full.
    errors = [
        Question("error-long", streamed | {"prompt": [opening[0]] * (CONTEXT + 88)}),
        Question("error-type", greedy | {"max_tokens": "many"}),
        Question("error-path", greedy, "/v1/completion"),
        Question("other-model", greedy | {"model": "no-such-model", "max_tokens": 4}),
    ]
    if system == "vllm":
        errors.append(Question("error-tokens", greedy | {"max_tokens": CONTEXT + 88}))
    else:
        asked = {"native": opening, "half-native": half}
        others += [
            Question(each, streamed | {"prompt": ids, "n_predict": 24}, "/completion") for each, ids in asked.items()
        ]
    return [*found, others, errors]
