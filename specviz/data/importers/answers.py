"""The parts of an answer in OpenAI's format that vLLM and llama.cpp share: texts, ends, usage, tokens' texts."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from specviz.core.trace import MAX_TOKENS

Count = Annotated[int, Field(ge=0, le=10**9)]
Id = Annotated[int, Field(ge=0, lt=2**31)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]  # in one output
Milliseconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Message:
    """What was written, or a stream's next part of it. vLLM's newer name for thoughts is `reasoning`."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def text(self) -> str:
        """Thoughts, then the answer."""
        return (self.reasoning or self.reasoning_content or "") + (self.content or "")


@dataclass(frozen=True, slots=True)
class TokenText:
    """A token of `logprobs.content`."""

    token: str
    bytes: list[Annotated[int, Field(ge=0, le=255)]] | None = None

    @property
    def text(self) -> str:
        """Its text as traces have it: bytes that are no whole character stand as ⟨E2⟩."""
        return text_of_bytes(bytes(self.bytes)) if self.bytes else self.token


@dataclass(frozen=True, slots=True)
class Logprobs:
    """`content` in answers to chats, `tokens` in completions."""

    content: list[TokenText] | None = None
    tokens: list[str] | None = None

    @property
    def texts(self) -> list[str]:
        """The text of each token."""
        return [each.text for each in self.content] if self.content else self.tokens or []


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer; in a stream the next part of it."""

    index: int = 0
    text: str | None = None  # of completions
    message: Message | None = None  # of chats
    delta: Message | None = None  # of a chat's stream
    finish_reason: str | None = None
    stop_reason: int | str | None = None  # vLLM: None at an end of text
    token_ids: list[Id] | None = None  # vLLM, with return_token_ids
    prompt_token_ids: list[Id] | None = None
    logprobs: Logprobs | None = None

    @property
    def written(self) -> str:
        """Its text."""
        message = self.message or self.delta
        return self.text if self.text is not None else message.text if message else ""


@dataclass(frozen=True, slots=True)
class Usage:
    """How many tokens were read and written."""

    completion_tokens: Tokens


def text_of_bytes(raw: bytes) -> str:
    """The text of these bytes; what is no whole character stands as ⟨E2⟩."""
    return "".join(
        f"⟨{ord(char) - 0xDC00:02X}⟩" if 0xDC80 <= ord(char) <= 0xDCFF else char
        for char in raw.decode(errors="surrogateescape")
    )
