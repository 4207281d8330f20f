"""One OpenAI-compatible server: who it is, a streamed answer, its counters. Everything that it sends is bounded.

A redirect is never followed, so a key goes to no other host. Sentences about a server never hold the key.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from specviz.core.errors import InputError
from specviz.core.texts import join_choices
from specviz.measure.endpoints.address import Address
from specviz.measure.endpoints.reading import BadAnswer, Lines, StreamedAnswer, message_in, parse, quote
from specviz.measure.endpoints.result import Server

CONNECT = 10.0  # seconds
SILENCE = 120.0  # seconds without a byte, after which an answer is lost
WHOLE = 900.0  # seconds of a whole answer
MOST_WAIT = 60.0  # seconds that a server may ask us to wait, in `Retry-After`
WAITS = 5
MOST_OF_A_PAGE = 4_000_000  # bytes of /metrics
MOST_OF_A_SENTENCE = 20_000  # bytes of an answer that is an error
STREAM = "text/event-stream"
# What a server calls itself in the list of its models, and its name.
OWNERS = {"vllm": "vLLM", "llamacpp": "llama.cpp", "sglang": "SGLang", "organization_owner": "LM Studio"}
OWNERS |= {"library": "Ollama"}
# Where a server says its version, and under which name.
VERSIONS = {
    "vLLM": ("/version", "version"),
    "llama.cpp": ("/props", "build_info"),
    "SGLang": ("/server_info", "version"),
}
# Fields that a server has beyond OpenAI's.
IGNORE_EOS: Mapping[str, Any] = {"ignore_eos": True}
WHOLE_DISTRIBUTION: Mapping[str, Any] = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}  # llama.cpp cuts it off otherwise
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "vLLM": {**IGNORE_EOS, **WHOLE_DISTRIBUTION, "return_token_ids": True},
    "llama.cpp": {**IGNORE_EOS, **WHOLE_DISTRIBUTION, "timings_per_token": True, "cache_prompt": False},
}
OPTIONAL = ("stream_options", "seed", "max_tokens")  # of OpenAI's own: some servers take max_completion_tokens alone
Api = Literal["completions", "chat"]


class Refused(InputError):
    """The server cannot be measured: whatever is asked of it, it will not answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    messages: tuple[tuple[str, str], ...]  # of a chat; empty: the text is the user's
    max_new_tokens: int
    temperature: float
    seed: int

    def body(self, api: Api) -> dict[str, Any]:
        asked: dict[str, Any] = {"max_tokens": self.max_new_tokens, "temperature": self.temperature, "seed": self.seed}
        if api == "completions":
            return asked | {"prompt": self.text}
        messages = self.messages or (("user", self.text),)
        return asked | {"messages": [{"role": role, "content": content} for role, content in messages]}


@dataclass
class Heard:
    """The lines of one answer, and why there are no more of them, if there should be."""

    lines: Lines
    asked: int  # tokens
    began: float  # by `time.perf_counter`
    problem: BadAnswer | None = None

    def answer(self) -> StreamedAnswer:
        """What it says. Raises BadAnswer where it is not whole."""
        if self.problem:
            raise self.problem
        answer = StreamedAnswer(self.asked, self.began)
        answer.read(self.lines.came)
        answer.check()
        return answer


@dataclass
class Endpoint:
    """A server, asked through `http`. `fields` are those beyond OpenAI's that it takes."""

    address: Address
    http: httpx2.AsyncClient
    api: Api
    key: str = ""
    whole: float = WHOLE
    model: str = ""
    system: str = ""
    version: str = ""
    fields: dict[str, Any] = field(default_factory=lambda: dict(IGNORE_EOS))
    has_metrics: bool = True
    slots: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # that the user wants in each request
    refused: set[str] = field(default_factory=set)  # fields that it does not take

    @property
    def server(self) -> Server:
        ignores_end = "ignore_eos" in self.fields.keys() - self.refused
        return Server(self.address.base, self.model, self.system, self.version, ignores_end, slots=self.slots)

    async def meet(self, model: str | None, question: Asked) -> None:
        """Find out who it is, what it takes and whether it answers. Raises Refused, a sentence with its address."""
        models = await self._models()
        names = [str(each.get("id", "")) for each in models]
        self.model = self._known_model(model, models) if model else self._only_model(names)
        owner = next((str(each.get("owned_by")) for each in models), "")
        self.system = OWNERS.get(owner, "")
        self.version, self.slots = await self._about()
        self.fields = dict(FIELDS.get(self.system, IGNORE_EOS))
        try:
            await self._first_answer(question)
        except BadAnswer as problem:
            raise Refused(f"{self.address.base}: {problem}.") from None
        self.has_metrics = await self.metrics() is not None

    async def _first_answer(self, question: Asked) -> None:
        """Ask until it takes the fields: without those that it refuses by name, or without all beyond OpenAI's."""
        for _ in range(len(OPTIONAL) + len(self.fields) + 1):
            try:
                await self.answer_to(question)
                return
            except BadRequest as problem:
                sent = [*OPTIONAL, *self.fields]
                named = {name for name in sent if name in str(problem)} - self.refused
                new = named or (self.fields.keys() - self.refused)
                if not new:
                    raise
                self.refused |= new

    def _known_model(self, model: str, models: list[dict[str, Any]]) -> str:
        """The model that was named; some servers answer to any name, so their list decides."""
        names = {name for each in models for name in (each.get("id"), *(each.get("aliases") or ()))}
        if models and model not in names and "*" not in names:
            raise Refused(f"{self.address.base} has no model {model[:100]!r}: it has {_listed(map(str, names))}.")
        return model

    def _only_model(self, models: list[str]) -> str:
        if len(models) == 1:
            return models[0]
        has = f"has the models {_listed(models)}" if models else "does not list its models"
        raise Refused(f"{self.address.base} {has}: name one with --model.")

    async def _models(self) -> list[dict[str, Any]]:
        """The models that it lists; none where it has no such list."""
        try:
            found = parse(await self._get(f"{self.address.base}/models", MOST_OF_A_SENTENCE * 10), (dict, list))
        except BadAnswer as problem:
            if isinstance(problem, NotThere):
                return []
            raise Refused(f"{self.address.base}: {problem}.") from None
        listed = found.get("data") if isinstance(found, dict) else found
        return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []

    async def _about(self) -> tuple[str, int | None]:
        """Its version, and how many requests it answers at once."""
        path, name = VERSIONS.get(self.system, ("", ""))
        if not path:
            return "", None
        try:
            found = parse(await self._get(self.address.root + path, MOST_OF_A_PAGE))
        except BadAnswer:
            return "", None
        slots = found.get("total_slots")
        return str(found.get(name, ""))[:100], slots if type(slots) is int and slots > 0 else None

    async def metrics(self) -> str | None:
        """Its page /metrics; None where it has none."""
        if not self.has_metrics:
            return None
        try:
            return (await self._get(f"{self.address.root}/metrics", MOST_OF_A_PAGE)).decode(errors="replace")
        except BadAnswer:
            return None

    async def answer_to(self, question: Asked) -> StreamedAnswer:
        """One answer, read to its end. Raises BadAnswer."""
        return (await self.listen(question)).answer()

    async def listen(self, question: Asked) -> Heard:
        """What came of one answer, not read yet: reading takes time, and other answers may be under way."""
        heard, waits, closed = self._heard(question), 0, False
        try:
            async with asyncio.timeout(self.whole):
                while True:
                    try:
                        await self._read_stream(self._body(question), heard.lines)
                        break
                    except (httpx2.RemoteProtocolError, httpx2.ReadError):  # an idle connection that it had closed
                        if heard.lines.came or closed:
                            raise
                        closed = True
                    except BusyServer as busy:
                        if waits == WAITS:
                            raise
                        waits += 1
                        await asyncio.sleep(busy.seconds)
                    heard = self._heard(question)
        except TimeoutError:
            heard.problem = BadAnswer(f"its answer took longer than {self.whole:.0f} s, and was ended")
        except httpx2.TransportError as error:
            heard.problem = BadAnswer(_explain(error, self.address))
        except BadAnswer as problem:
            heard.problem = problem
        return heard

    def _heard(self, question: Asked) -> Heard:
        return Heard(Lines(question.max_new_tokens), question.max_new_tokens, time.perf_counter())

    def _body(self, question: Asked) -> dict[str, Any]:
        options = {"include_usage": True} | ({"continuous_usage_stats": True} if self.system == "vLLM" else {})
        body = question.body(self.api) | {"model": self.model, "stream": True, "stream_options": options}
        body = {name: value for name, value in (body | self.fields).items() if name not in self.refused}
        limit = {"max_completion_tokens": question.max_new_tokens} if "max_tokens" in self.refused else {}
        return {**body, **limit, **self.extra}

    async def _read_stream(self, body: Mapping[str, Any], lines: Lines) -> None:
        path = "/completions" if self.api == "completions" else "/chat/completions"
        async with self.http.stream("POST", self.address.base + path, json=body, headers=self._headers()) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if response.status_code != httpx2.codes.OK or kind != STREAM:
                await self._refuse(response, kind)
            async for data in response.aiter_raw():
                if lines.feed(data):
                    return

    async def _get(self, url: str, most: int) -> bytes:
        try:
            async with asyncio.timeout(SILENCE), self.http.stream("GET", url, headers=self._headers()) as response:
                if response.status_code != httpx2.codes.OK:
                    await self._refuse(response, "")
                return await _read_at_most(response, most)
        except TimeoutError:
            raise BadAnswer(f"it did not answer within {SILENCE:.0f} s") from None
        except httpx2.TransportError as error:
            raise BadAnswer(_explain(error, self.address)) from None

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self.key}"} if self.key else {})

    async def _refuse(self, response: httpx2.Response, kind: str) -> None:
        """Raise what an answer that is no stream means."""
        status = response.status_code
        if response.is_redirect:
            other = response.headers.get("location", "")[:120].partition("?")[0]
            raise BadAnswer(f"it sends us to {quote(other)}, which is not followed: give that address")
        if status == httpx2.codes.OK:
            what = "a whole answer" if kind == "application/json" else quote(kind or "no type")
            raise BadAnswer(f"it does not stream: it sent {what} in the place of {STREAM}")
        text = self._without_key(quote(message_in(await _read_at_most(response, MOST_OF_A_SENTENCE, cut=True))))
        problem = f"it answered {status} {response.reason_phrase}: {text}"
        wait = response.headers.get("retry-after", "")
        if status in (429, 503) and wait.isdecimal() and int(wait) <= MOST_WAIT:
            raise BusyServer(problem, int(wait))
        if status in (400, 422):
            raise BadRequest(problem)
        raise NotThere(problem) if status in (404, 405, 501) else BadAnswer(problem)

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text


class BadRequest(BadAnswer):
    """The server does not take this request, as it has unknown fields or a prompt that is too long."""


class BusyServer(BadAnswer):
    """The server takes this request later."""

    def __init__(self, problem: str, seconds: int) -> None:
        super().__init__(problem)
        self.seconds = seconds


class NotThere(BadAnswer):
    """The server has no such path or model."""


def open_client(most_connections: int) -> httpx2.AsyncClient:
    waits = httpx2.Timeout(SILENCE, connect=CONNECT)
    limits = httpx2.Limits(max_connections=most_connections + 4, max_keepalive_connections=most_connections + 4)
    direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}  # a proxy cannot reach them
    return httpx2.AsyncClient(timeout=waits, limits=limits, follow_redirects=False, mounts=direct)


def _listed(names: Iterable[str]) -> str:
    every = sorted(names)
    return join_choices([*(name[:60] for name in every[:5]), *["others"] * (len(every) > 5)], "and")


async def _read_at_most(response: httpx2.Response, most: int, cut: bool = False) -> bytes:
    found = bytearray()
    async for data in response.aiter_raw():
        found += data
        if len(found) > most:
            if cut:
                break
            raise BadAnswer(f"its answer is longer than {most / 1e6:.1f} MB, and was ended")
    return bytes(found[:most])


def _explain(error: httpx2.TransportError, address: Address) -> str:
    if "SSL" in str(error) or "certificate" in str(error).lower():
        return f"its certificate cannot be trusted, or it does not speak TLS: {quote(str(error))}"
    match error:
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return f"nothing answers at {address.host}"
        case httpx2.TimeoutException():
            return f"it sent nothing for {SILENCE:.0f} s"
        case httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return "it ended the connection in the middle"
    return f"the connection failed ({type(error).__name__})"
