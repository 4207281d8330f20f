"""One OpenAI-compatible server: who it is, a streamed answer, its counters. Everything that it sends is bounded.

A redirect is never followed, so a key goes to no other host. Sentences about a server never hold the key.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import httpx2

from specviz.core.errors import InputError
from specviz.core.texts import join_choices
from specviz.measure.endpoints.reading import BadAnswer, Lines, message_in, parse, quote
from specviz.measure.endpoints.result import BenchSettings, PrefixCache, Server
from specviz.measure.sweep.plan import SweepPrompt

LONGEST = 300  # characters of an address
ENDS = ("/chat/completions", "/completions", "/models")  # of a path that is more than the API's base
CONNECT = 10.0  # seconds
SILENCE = 120.0  # seconds without a byte, after which an answer is lost
WHOLE = 900.0  # seconds of a whole answer
MOST_WAIT = 60  # seconds that a server may ask us to wait, in `Retry-After`
TRIES = 6
MOST_OF_A_PAGE = 4_000_000  # bytes of /metrics
MOST_OF_A_SENTENCE = 20_000  # bytes of an answer that is an error
STREAM = "text/event-stream"
NOT_TAKEN, NOT_THERE, BUSY = (400, 422), (404, 405, 501), (429, 503)  # of a field, a path, a request
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
    "llama.cpp": {**IGNORE_EOS, **WHOLE_DISTRIBUTION, "timings_per_token": True},
}
# A server's own switch of its prefix cache. A salt is drawn for each request.
CACHES: Mapping[tuple[PrefixCache, str], Mapping[str, Any]] = {
    ("cold", "vLLM"): {"cache_salt": ""},
    ("cold", "llama.cpp"): {"cache_prompt": False},
    ("warm", "llama.cpp"): {"cache_prompt": True},
}
OPTIONAL = ("stream_options", "seed", "max_tokens")  # of OpenAI's own: some servers take max_completion_tokens alone


def parse_address(text: str, option: str) -> str:
    """Where /completions is; `option` names the text in the sentence of an InputError. A path of none means /v1."""
    parts, known = urlsplit(""), False
    with suppress(ValueError):  # a host or a port that is none
        parts = urlsplit(text.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and len(text) <= LONGEST
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(f"{option}: leave user, password and what follows the path out; a key goes into --key-env.")
    if not known:
        raise InputError(f"{option}: {text[:80].partition('?')[0]!r} is no address, such as http://localhost:8000.")
    path = parts.path.rstrip("/")
    path = next((path.removesuffix(end) for end in ENDS if path.endswith(end)), path) or "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"


@dataclass
class Endpoint:
    """A server, asked through `http` as the settings say. `fields` are those beyond OpenAI's that it takes."""

    address: str  # where /completions is
    http: httpx2.AsyncClient
    settings: BenchSettings
    key: str = ""
    model: str = ""
    system: str = ""
    version: str = ""
    fields: dict[str, Any] = field(default_factory=lambda: dict(IGNORE_EOS))
    has_metrics: bool = True
    slots: int | None = None
    refused: set[str] = field(default_factory=set)  # fields that it does not take

    @property
    def root(self) -> str:
        """Where /metrics is."""
        return self.address.removesuffix("/v1")

    @property
    def server(self) -> Server:
        ignores_end = "ignore_eos" in self.fields.keys() - self.refused
        return Server(self.address, self.model, self.system, self.version, ignores_end, slots=self.slots)

    async def meet(self, model: str | None, prompt: SweepPrompt) -> None:
        """Find out who it is, what it takes and whether it answers. InputError: a sentence with its address."""
        try:
            models = await self._models()
            self.model = _choose(models, model)
            self.system = OWNERS.get(next((str(each.get("owned_by")) for each in models), ""), "")
            with suppress(BadAnswer, KeyError):
                path, name = VERSIONS[self.system]
                about = parse(await self._get(self.root + path, MOST_OF_A_PAGE))
                slots, self.version = about.get("total_slots"), str(about.get(name, ""))[:100]
                self.slots = slots if type(slots) is int and slots > 0 else None
            cache = CACHES.get((self.settings.prefix_cache, self.system), {})
            self.fields = {**FIELDS.get(self.system, IGNORE_EOS), **cache}
            await self._first_answer(prompt)
        except BadAnswer as problem:
            raise InputError(f"{self.address}: {problem}.") from None
        self.has_metrics = await self.metrics() is not None

    async def _models(self) -> list[dict[str, Any]]:
        """The models that it lists; none where it has no such list."""
        try:
            found = parse(await self._get(f"{self.address}/models", MOST_OF_A_SENTENCE * 10), (dict, list))
        except BadAnswer as problem:
            if problem.status in NOT_THERE:
                return []
            raise
        listed = found.get("data") if isinstance(found, dict) else found
        return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []

    async def _first_answer(self, prompt: SweepPrompt) -> None:
        """Ask until it takes the fields: without those that it refuses by name, or without all beyond OpenAI's."""
        while True:
            try:
                (await self.listen(prompt)).answer()
                return
            except BadAnswer as problem:
                named = {name for name in (*OPTIONAL, *self.fields) if name in str(problem)} - self.refused
                new = named or (self.fields.keys() - self.refused)
                if problem.status not in NOT_TAKEN or not new:
                    raise
                self.refused |= new

    async def metrics(self) -> str | None:
        """Its page /metrics; None where it has none."""
        try:
            page = await self._get(f"{self.root}/metrics", MOST_OF_A_PAGE) if self.has_metrics else None
        except BadAnswer:
            return None
        return None if page is None else page.decode(errors="replace")

    async def listen(self, prompt: SweepPrompt) -> Lines:
        """What came of one answer, not read yet: reading takes time, and other answers may be under way."""
        lines, waited = Lines(self.settings.max_new_tokens), 0.0  # seconds: part of the answer's own time
        try:
            async with self._problems_in_words(WHOLE, f"its answer took longer than {WHOLE:.0f} s, and was ended"):
                for tries_left in reversed(range(TRIES)):
                    lines = Lines(self.settings.max_new_tokens)
                    lines.began -= waited
                    try:
                        await self._read_stream(self._body(prompt), lines)
                        break
                    except (httpx2.RemoteProtocolError, httpx2.ReadError):  # an idle connection that it had closed
                        if lines.came or not tries_left:
                            raise
                    except BadAnswer as problem:
                        if problem.wait is None or not tries_left:
                            raise
                        await asyncio.sleep(problem.wait)
                        waited = time.perf_counter() - lines.began
        except BadAnswer as problem:  # a new one: what was raised would hold all that was being read
            lines.problem = BadAnswer(str(problem), problem.status, problem.wait)
        return lines

    def _body(self, prompt: SweepPrompt) -> dict[str, Any]:
        settings = self.settings
        options = {"include_usage": True} | ({"continuous_usage_stats": True} if self.system == "vLLM" else {})
        body: dict[str, Any] = {"model": self.model, "stream": True, "stream_options": options, "seed": settings.seed}
        body |= {"max_tokens": settings.max_new_tokens, "temperature": settings.temperature}
        if settings.api == "completions":
            body["prompt"] = prompt.text
        else:
            messages = prompt.messages or (("user", prompt.text),)
            body["messages"] = [{"role": role, "content": content} for role, content in messages]
        body = {name: value for name, value in (body | self.fields).items() if name not in self.refused}
        if "max_tokens" in self.refused:
            body["max_completion_tokens"] = settings.max_new_tokens
        if "cache_salt" in body:
            body["cache_salt"] = token_hex(8)
        extra: dict[str, Any] = json.loads(settings.extra_body or "{}")
        return body | extra

    async def _read_stream(self, body: Mapping[str, Any], lines: Lines) -> None:
        path = "/completions" if self.settings.api == "completions" else "/chat/completions"
        async with self.http.stream("POST", self.address + path, json=body, headers=self._headers()) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            await self._check(response)
            if kind != STREAM:
                what = "a whole answer" if kind == "application/json" else quote(kind or "no type")
                raise BadAnswer(f"it does not stream: it sent {what} in the place of {STREAM}")
            async for data in response.aiter_raw():
                if lines.feed(data):
                    return

    async def _get(self, url: str, most: int) -> bytes:
        async with (
            self._problems_in_words(SILENCE, f"it did not answer within {SILENCE:.0f} s"),
            self.http.stream("GET", url, headers=self._headers()) as response,
        ):
            await self._check(response)
            return await _read_at_most(response, most)

    @asynccontextmanager
    async def _problems_in_words(self, seconds: float, too_late: str) -> AsyncIterator[None]:
        """What ends a connection, as a BadAnswer."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise BadAnswer(too_late) from None
        except httpx2.TransportError as error:
            raise BadAnswer(_explain(error, urlsplit(self.address).netloc)) from None

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        return headers | ({"Authorization": f"Bearer {self.key}"} if self.key else {})

    async def _check(self, response: httpx2.Response) -> None:
        """Raise what an answer means that is not OK."""
        status, wait = response.status_code, response.headers.get("retry-after", "")
        if status == httpx2.codes.OK:
            return
        if response.is_redirect:
            other = response.headers.get("location", "")[:120].partition("?")[0]
            raise BadAnswer(f"it sends us to {quote(other)}, which is not followed: give that address")
        text = quote(message_in(await _read_at_most(response, MOST_OF_A_SENTENCE, cut=True)))
        text = text.replace(self.key, "…") if self.key else text
        later = int(wait) if status in BUSY and wait.isdecimal() and int(wait) <= MOST_WAIT else None
        raise BadAnswer(f"it answered {status} {response.reason_phrase}: {text}", status, later)


def open_client(most_connections: int) -> httpx2.AsyncClient:
    waits = httpx2.Timeout(SILENCE, connect=CONNECT)
    limits = httpx2.Limits(max_connections=most_connections + 4, max_keepalive_connections=most_connections + 4)
    direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}  # a proxy cannot reach them
    return httpx2.AsyncClient(timeout=waits, limits=limits, follow_redirects=False, mounts=direct)


def _choose(models: list[dict[str, Any]], model: str | None) -> str:
    """The model that was named, else the only one. Some servers answer to any name, so their list decides."""
    names = [str(each.get("id", "")) for each in models]
    known = {name for each in models for name in (each.get("id"), *(each.get("aliases") or ()))}
    if model is None and len(names) == 1:
        return names[0]
    if model is None:
        has = f"has the models {_list(names)}" if names else "does not list its models"
        raise BadAnswer(f"it {has}: name one with --model")
    if models and model not in known and "*" not in known:
        raise BadAnswer(f"it has no model {model[:100]!r}, but {_list(map(str, known))}")
    return model


def _list(names: Iterable[str]) -> str:
    every = sorted(names)
    return join_choices([*(name[:60] for name in every[:5]), *["others"] * (len(every) > 5)], "and")


async def _read_at_most(response: httpx2.Response, most: int, cut: bool = False) -> bytes:
    found = bytearray()
    async for data in response.aiter_raw():
        found += data
        if len(found) > most and cut:
            break
        if len(found) > most:
            raise BadAnswer(f"its answer is longer than {most / 1e6:.1f} MB, and was ended")
    return bytes(found[:most])


def _explain(error: httpx2.TransportError, host: str) -> str:
    if "SSL" in str(error) or "certificate" in str(error).lower():
        return f"its certificate cannot be trusted, or it does not speak TLS: {quote(str(error))}"
    if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError):
        return f"nothing answers at {host}"
    if isinstance(error, httpx2.TimeoutException):
        return f"it sent nothing for {SILENCE:.0f} s"
    return f"it ended the connection, or the way to it did ({type(error).__name__})"
