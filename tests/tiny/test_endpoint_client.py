"""A server that misbehaves gets one sentence, within bounds of bytes, memory and time; the key is in none of them."""

import itertools
import json
import socket
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from time import sleep
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.measure.endpoints.client import Endpoint, open_client, parse_address
from specviz.measure.endpoints.reading import BadAnswer
from specviz.measure.endpoints.result import Answer, BenchSettings
from specviz.measure.sweep.plan import SweepPrompt
from tests.support.endpoint_server import JSON, FakeServer, Reply, event, run_async, running, said

KEY = "sk-secret-0123456789"
SETTINGS = BenchSettings(4, 0.0, 0, 1, [1], "completions")
CHAT = replace(SETTINGS, api="chat", temperature=0.7, seed=3, extra_body='{"draft_model": "small"}')
ASKED = SweepPrompt("", "", "Once", messages=(("system", "Be brief."), ("user", "Hi")))
TEXT = event({"choices": [{"text": "Once"}]})
DONE = b"data: [DONE]\n"


async def asked(server: FakeServer, whole: float = 20.0) -> Answer:
    async with open_client(1) as http:
        address = parse_address(server.url, "--with")
        endpoint = Endpoint(address, http, SETTINGS, KEY, whole, model="wren")
        return (await endpoint.listen(ASKED)).answer()


def ask(server: FakeServer, whole: float = 20.0) -> Answer:
    with running(server):
        return run_async(asked(server, whole))


def endless(part: bytes) -> Iterator[bytes]:
    return itertools.repeat(part)


def dripping() -> Iterator[bytes]:
    """A part now and then, for ever; the client's limit of time ends it."""
    while True:
        yield TEXT
        sleep(0.01)


def ending(tokens: int, *parts: bytes) -> Reply:
    """A stream of these parts, after which the server says that it wrote so many tokens."""
    return Reply([*parts, event({"choices": [], "usage": {"completion_tokens": tokens}}), b"data: [DONE]\n"])


# fmt: off
WRONG: dict[str, tuple[Reply, str]] = {
    "an endless stream": (Reply(endless(TEXT)), "is longer than 0.4 MB, and was ended"),
    "an endless line": (Reply(endless(b"x" * 65_536)), "a part of its stream is longer than 256 kB"),
    "an endless line of data": (Reply([b"data: ", b"[" * 300_000]), "a part of its stream is longer than 256 kB"),
    "a line of brackets": (Reply([b"data: " + b"[" * 200_000 + b"\n"]), "it sent what is no JSON"),
    "many values": (Reply([b"data: [" + b"0," * 100_000 + b"0]\n"]), "it sent what is no JSON"),
    "no UTF-8": (Reply([b'data: {"choices": [{"text": "\xff\xfe"}]}\n']), "bytes that are no UTF-8 text"),
    "no object": (Reply([b"data: 17\n"]), "what is no JSON object: “17”"),
    "an error in the stream": (Reply([TEXT, event({"error": {"message": "out of memory"}})]), "“out of memory”"),
    "llama.cpp's error": (Reply([TEXT, b'error: {"message": "slot\\u001b[31m lost"}\n']), "it says “slot�[31m lost”"),
    "the end in the middle": (Reply([TEXT], cut=True), "it ended the connection, or the way to it did"),
    "no end": (Reply([TEXT]), "its stream ended before its answer did"),
    "no text": (Reply([b"data: [DONE]\n"]), "its answer has no text"),
    "too many tokens": (ending(900, TEXT), "it says that it wrote 900 tokens, and at most 4 were asked for"),
    "too few tokens": (ending(1, TEXT, TEXT), "it sent 2 tokens, and says that it wrote 1"),
    "negative tokens": (ending(-5, TEXT), "a part that is no answer of a completion"),
    "no stream": (Reply([b'{"choices": [{"text": "Once"}]}'], headers=JSON), "does not stream: it sent a whole answer"),
    "a web page": (Reply([b"<h1>Hi</h1>"], headers={"Content-Type": "text/html"}), "it sent “text/html” in the place"),
    "a redirect": (
        Reply(status=307, headers={"Location": "https://elsewhere.example/v1?key=1"}),
        "it sends us to “https://elsewhere.example/v1”, which is not followed",
    ),
    "too many requests": (said("Rate limit: 3 a minute", 429), "429 Too Many Requests: “Rate limit: 3 a minute”"),
    "a failure": (Reply([b"<html>\n<h1>Bad gateway</h1>"], 502), "502 Bad Gateway: “<html> <h1>Bad gateway</h1>”"),
    "an endless failure": (Reply(endless(b"no " * 1000), 500), "500 Internal Server Error: “no no no"),
    "a key in its words": (said(f"wrong key {KEY}", 401), "401 Unauthorized: “wrong key …”"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_one_sentence(wrong: str) -> None:
    reply, sentence = WRONG[wrong]
    with pytest.raises(BadAnswer) as raised:
        ask(FakeServer(answer=lambda _: reply))
    told = str(raised.value)
    assert sentence in told
    assert told.isprintable()
    assert len(told) < 400
    assert KEY not in told


@pytest.mark.parametrize("wrong", ["an endless stream", "an endless line", "an endless failure", "many values"])
def test_a_wrong_answer_takes_little_memory(wrong: str) -> None:
    reply, _ = WRONG[wrong]
    tracemalloc.start()
    try:
        with pytest.raises(BadAnswer):
            ask(FakeServer(answer=lambda _: reply))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 24_000_000


def test_an_answer_that_drips_is_ended() -> None:
    with pytest.raises(BadAnswer, match="its answer took longer than 0 s, and was ended"):
        ask(FakeServer(answer=lambda _: Reply(dripping())), whole=0.3)


def test_nothing_listens_or_the_server_has_no_tls() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        unheard = FakeServer(url=f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.raises(BadAnswer, match=f"nothing answers at {unheard.url[7:]}"):
        run_async(asked(unheard))
    with running(server := FakeServer()):
        server.url = server.url.replace("http:", "https:")
        with pytest.raises(BadAnswer, match="certificate cannot be trusted, or it does not speak TLS"):
            run_async(asked(server))


def piece(text: object, **more: Any) -> bytes:
    return event({"choices": [{"text": text}], **more})


def usage(tokens: int, **details: int) -> dict[str, Any]:
    counts = {"prompt_tokens": tokens and 3, "completion_tokens": tokens, "completion_tokens_details": details}
    return {"usage": counts}


def thinks(usage: object = None, **delta: str) -> bytes:
    """A part of a chat of vLLM, or of llama.cpp and SGLang, before the answer."""
    return event({"choices": [{"delta": delta | {"content": None}}], "usage": usage})


def says(usage: object) -> bytes:
    return event({"choices": [{"delta": {"content": "no"}, "finish_reason": "stop"}], "usage": usage})


THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
WORD = event({"choices": [{"text": "día", "finish_reason": "stop"}]})
STREAMS: dict[str, Iterable[bytes]] = {
    "running totals": [piece("a", **usage(1)), piece("b c d", **usage(4)), DONE],
    "a count with the last part alone": [piece("a"), piece("b", **usage(2)), DONE],
    "pieces of a byte": [WORD[at : at + 1] for at in range(len(WORD))],
    "an end without a blank": [TEXT, b"data:[DONE]\n"],
    "an end as Windows writes it": [TEXT, b"data: [DONE]\r\n\r\n"],
    "zeros in the place of a count": [piece("a", **usage(0)), piece("b", **usage(0)), DONE],
    "a chat whose text is a list of parts": [
        *(event({"choices": [{"delta": {"content": its}}]}) for its in (THOUGHT, [{"type": "text", "text": " y"}])),
        DONE,
    ],
    "reasoning, in counted parts": [thinks(reasoning="ab", **usage(3)), says(**usage(4)), DONE],
    "reasoning, in parts without a count": [thinks(reasoning_content="ab"), says(**usage(4)), DONE],
    "reasoning that the server counts": [thinks(reasoning="ab"), says(**usage(10, reasoning_tokens=9)), DONE],
    "reasoning of zero tokens": [thinks(reasoning="ab"), says(**usage(10, reasoning_tokens=0)), DONE],
    "reasoning details that are no counts": [
        thinks(reasoning="ab"),
        says({"completion_tokens": 4, "completion_tokens_details": [-1]}),
        DONE,
    ],
    "a text beside a thought": [
        event({"choices": [{"text": "no", "delta": {"reasoning": "a long thought"}, "finish_reason": "stop"}]}),
        DONE,
    ],
    "more reasoning than tokens": [thinks(reasoning="ab"), says(**usage(10, reasoning_tokens=11)), DONE],
}


def told(answer: Answer) -> str:
    """Times are in order, one for each part."""
    assert answer.part_seconds == sorted(answer.part_seconds)
    parts = f"{len(answer.part_seconds)} parts of {answer.part_tokens}"
    parts += f", {answer.reasoning:.0%} reasoning" if answer.reasoning else ""
    return f"{answer.text!r}: {answer.tokens} tokens after {answer.prompt_tokens}, {answer.finish!r}, {parts}"


def test_an_answer_has_its_text_its_tokens_and_its_parts(snapshot: SnapshotAssertion) -> None:
    found = {name: ask(FakeServer(answer=lambda _, its=parts: Reply(its))) for name, parts in STREAMS.items()}  # type: ignore[misc]
    found["several tokens a part"] = ask(FakeServer(drafts=2))
    assert "\n".join(f"{name}: {told(answer)}" for name, answer in found.items()) == snapshot


def meet(server: FakeServer, model: str | None = None, settings: BenchSettings = SETTINGS) -> Endpoint:
    async def met() -> Endpoint:
        async with open_client(1) as http:
            endpoint = Endpoint(parse_address(server.url, "--with"), http, settings, KEY)
            await endpoint.meet(model, ASKED)
            await endpoint.listen(ASKED)
            return endpoint

    with running(server):
        return run_async(met())


@dataclass
class Told(FakeServer):
    """It also says what stands under these paths."""

    pages: dict[str, Any] = field(default_factory=dict)

    def reply(self, path: str, body: dict[str, Any]) -> Reply:
        found = next((page for end, page in self.pages.items() if path.endswith(end)), None)
        return super().reply(path, body) if found is None else Reply([json.dumps(found).encode()], headers=JSON)


def props(slots: object) -> Told:
    return Told("llamacpp", pages={"/props": {"build_info": "b11434", "total_slots": slots}})


COLD, WARM = replace(SETTINGS, prefix_cache="cold"), replace(SETTINGS, prefix_cache="warm")
ANY = [{"id": "*", "owned_by": "proxy"}]
MET: dict[str, tuple[FakeServer, dict[str, Any]]] = {
    "vLLM": (FakeServer(), {}),
    "vLLM, a chat": (FakeServer(), {"settings": CHAT}),
    "vLLM, cold": (FakeServer(), {"settings": COLD}),
    "vLLM, warm": (FakeServer(), {"settings": WARM}),
    "llama.cpp": (props(4), {}),
    "llama.cpp, cold": (props(0), {"settings": COLD}),
    "llama.cpp, warm": (props(True), {"settings": WARM}),
    "a number of slots that is none": (props("4"), {}),
    "somebody else": (FakeServer("somebody"), {}),
    "SGLang": (Told("sglang", pages={"/server_info": {"version": "0.5"}}), {}),
    "one of two": (FakeServer(models=("a", "b")), {"model": "b"}),
    "a list of models, one for all": (Told(models=("anything",), pages={"/models": ANY}), {"model": "anything"}),
    "one for all": (Told(models=("anything",), pages={"/models": {"data": ANY}}), {"model": "anything"}),
    **{f"refuses {name}": (FakeServer(refuses=(name,), writes=8), {})
       for name in ("stream_options", "seed", "max_tokens", "ignore_eos")},
}  # fmt: skip


def test_a_server_says_who_it_is_and_is_asked_what_it_takes(snapshot: SnapshotAssertion) -> None:
    lines = []
    for name, (server, given) in MET.items():
        its, bodies = meet(server, **given).server, server.asked[-2:]
        assert set(server.keys) == {f"Bearer {KEY}"}
        assert KEY not in repr(its)
        salts = {body.pop("cache_salt", None) for body in bodies}
        assert len(salts) == (2 if name == "vLLM, cold" else 1), "a new salt for each request"
        who = f"{its.model}, {its.system} {its.version}, ignores an end: {its.takes_ignore_eos}, slots: {its.slots}"
        lines.append(f"{name}: {who}\n  {json.dumps(bodies[-1], sort_keys=True)}")
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize(
    ("models", "model", "sentence"),
    [
        (("a", "b"), None, "it has the models a and b: name one with --model"),
        (("wren",), "x", r"127.0.0.1:\d+/v1: it has no model 'x', but wren\."),
        ((), "x", r"/v1: it answered 404 Not Found: “The model `x` does not exist"),  # it has no list
    ],
)
def test_a_model_must_be_one_that_it_has(models: tuple[str, ...], model: str | None, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        meet(FakeServer(models=models), model)


def test_a_connection_that_the_server_had_closed_is_opened_again() -> None:
    """llama.cpp closes connections although it says that it keeps them."""
    server = FakeServer(closes=True)

    async def twice() -> list[str]:
        async with open_client(1) as http:
            endpoint = Endpoint(parse_address(server.url, "--with"), http, SETTINGS, model="wren")
            texts = list[str]()
            for _ in range(3):
                assert await endpoint.metrics()  # leaves a connection for the next question
                texts.append((await endpoint.listen(ASKED)).answer().text)
            return texts

    with running(server):
        assert set(run_async(twice())) == {"Once upon a time"}
    assert server.dropped


def test_a_server_that_asks_to_wait_is_waited_for() -> None:
    replies = iter([Reply([b"{}"], 429, {"Content-Type": "application/json", "Retry-After": "0"})])
    server = FakeServer()
    server.answer = lambda body: next(replies, None) or Reply(server.parts(body))
    assert ask(server).tokens
    assert len(server.asked) == 2


ADDRESSES = {
    "http://localhost:8000": "http://localhost:8000/v1",
    "http://localhost:8000/": "http://localhost:8000/v1",
    " https://host/v1/ ": "https://host/v1",
    "https://host/proxy/v1/chat/completions": "https://host/proxy/v1",
    "http://[::1]:8000/v1": "http://[::1]:8000/v1",
}
NO_ADDRESSES = ["", "localhost:8000", "ftp://host", "http://", "http://host:99999", "http://h/?key=1", "http://[::1"]


def test_an_address_as_people_write_it() -> None:
    assert {text: parse_address(text, "--with") for text in ADDRESSES} == ADDRESSES


@pytest.mark.parametrize("text", [*NO_ADDRESSES, "http://me:pass@host"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^--without: ") as raised:
        parse_address(text, "--without")
    assert "pass@" not in str(raised.value)
