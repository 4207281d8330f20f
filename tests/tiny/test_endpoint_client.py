"""A server that misbehaves gets one sentence, within bounds of bytes, memory and time; the key is in none of them."""

import itertools
import json
import socket
import tracemalloc
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from time import sleep
from typing import Any, TypeVar

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.measure.endpoints import client
from specviz.measure.endpoints.client import Endpoint, open_client, parse_address
from specviz.measure.endpoints.reading import BadAnswer, Lines
from specviz.measure.endpoints.result import Answer, BenchSettings, Server
from specviz.measure.sweep.plan import SweepPrompt
from tests.support.endpoint_server import DONE, JSON, FakeServer, Reply, ending, event, page, run_async, running, said
from tests.support.known import known

T = TypeVar("T")
Act = Callable[[Endpoint], Coroutine[Any, Any, T]]
KEY = "sk-secret-0123456789"
SETTINGS = BenchSettings(4, 0.0, 0, 1, [1], "completions")
CHAT = replace(SETTINGS, api="chat", temperature=0.7, seed=3, extra_body='{"draft_model": "small"}')
ASKED = SweepPrompt("", "", "Once", messages=(("system", "Be brief."), ("user", "Hi")))
TEXT = event({"choices": [{"text": "Once"}]})


def with_endpoint(server: FakeServer, act: Act[T], settings: BenchSettings = SETTINGS) -> T:
    async def acted() -> T:
        async with open_client(1) as http:
            return await act(Endpoint(parse_address(server.url, "--with"), http, settings, KEY, "wren"))

    return run_async(acted())


async def listen(endpoint: Endpoint) -> Answer:
    return (await endpoint.listen(ASKED)).answer()


def ask(server: FakeServer) -> Answer:
    with running(server):
        return with_endpoint(server, listen)


def dripping() -> Iterator[bytes]:
    """A part now and then, for ever; the client's limit of time ends it."""
    while True:
        yield TEXT
        sleep(0.01)


# fmt: off
WRONG: dict[str, tuple[Reply, str]] = {
    "an endless stream": (Reply(itertools.repeat(TEXT)), "is longer than 0.4 MB, and was ended"),
    "an endless line": (Reply(itertools.repeat(b"x" * 65_536)), "a part of its stream is longer than 256 kB"),
    "an endless line of data": (Reply([b"data: ", b"[" * 300_000]), "a part of its stream is longer than 256 kB"),
    "a line of brackets": (Reply([b"data: " + b"[" * 200_000 + b"\n"]), "it sent what is no JSON"),
    "many values": (Reply([b"data: [" + b"0," * 100_000 + b"0]\n"]), "it sent what is no JSON"),
    "no UTF-8": (Reply([b'data: {"choices": [{"text": "\xff\xfe"}]}\n']), "bytes that are no UTF-8 text"),
    "no object": (Reply([b"data: 17\n"]), "what is no JSON object: “17”"),
    "an error in the stream": (Reply([TEXT, event({"error": {"message": "out of memory"}})]), "“out of memory”"),
    "llama.cpp's error": (Reply([TEXT, b'error: {"message": "slot\\u001b[31m lost"}\n']), "it says “slot�[31m lost”"),
    "the end in the middle": (Reply([TEXT], cut=True), "it ended the connection, or the way to it did"),
    "no end": (Reply([TEXT]), "its stream ended before its answer did"),
    "no text": (Reply([DONE]), "its answer has no text"),
    "too many tokens": (ending(900, TEXT), "it says that it wrote 900 tokens, and at most 4 were asked for"),
    "too few tokens": (ending(1, TEXT, TEXT), "it sent 2 tokens, and says that it wrote 1"),
    "negative tokens": (ending(-5, TEXT), "a part that is no answer of a completion"),
    "no stream": (page({"choices": [{"text": "Once"}]}), "does not stream: it sent a whole answer"),
    "a web page": (Reply([b"<h1>Hi</h1>"], headers={"Content-Type": "text/html"}), "it sent “text/html” in the place"),
    "a redirect": (
        Reply(status=307, headers={"Location": "https://elsewhere.example/v1?key=1"}),
        "it sends us to “https://elsewhere.example/v1”, which is not followed",
    ),
    "too many requests": (said("Rate limit: 3 a minute", 429), "429 Too Many Requests: “Rate limit: 3 a minute”"),
    "a failure": (Reply([b"<html>\n<h1>Bad gateway</h1>"], 502), "502 Bad Gateway: “<html> <h1>Bad gateway</h1>”"),
    "an endless failure": (Reply(itertools.repeat(b"no " * 1000), 500), "500 Internal Server Error: “no no no"),
    "a key in its words": (said(f"wrong key {KEY}", 401), "401 Unauthorized: “wrong key …”"),
}
# fmt: on


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_takes_little_memory(wrong: str) -> None:
    """And it is one sentence, without the key."""
    reply, sentence = WRONG[wrong]
    tracemalloc.start()
    try:
        with pytest.raises(BadAnswer) as raised:
            ask(FakeServer(answer=lambda _: reply))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    told = str(raised.value)
    assert most < 24_000_000
    assert sentence in told
    assert told.isprintable()
    assert len(told) < 400
    assert KEY not in told


def test_an_answer_that_drips_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WHOLE", 0.3)
    with pytest.raises(BadAnswer, match="its answer took longer than 0 s, and was ended"):
        ask(FakeServer(answer=lambda _: Reply(dripping())))


def test_nothing_listens_or_the_server_has_no_tls() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        unheard = FakeServer(url=f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.raises(BadAnswer, match=f"nothing answers at {unheard.url[7:]}"):
        with_endpoint(unheard, listen)
    with running(server := FakeServer()):
        server.url = server.url.replace("http:", "https:")
        with pytest.raises(BadAnswer, match="certificate cannot be trusted, or it does not speak TLS"):
            with_endpoint(server, listen)


def part(usage: object = None, **choice: Any) -> bytes:
    return event({"choices": [choice], "usage": usage})


def usage(tokens: int, **details: int) -> dict[str, Any]:
    return {"prompt_tokens": 3, "completion_tokens": tokens, "completion_tokens_details": details}


NO = {"delta": {"content": "no"}, "finish_reason": "stop"}
# A part of a chat of vLLM, or of llama.cpp and SGLang, before the answer.
HM, HUM = ({"delta": {name: "ab", "content": None}} for name in ("reasoning", "reasoning_content"))
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
WORD = part(text="día", finish_reason="stop")
STREAMS: dict[str, Iterable[bytes]] = {
    "pieces of a byte": [WORD[at : at + 1] for at in range(len(WORD))],
    "an end without a blank": [TEXT, b"data:[DONE]\n"],
    "an end as Windows writes it": [TEXT, b"data: [DONE]\r\n\r\n"],
    "zeros in the place of a count": [part(usage(0), text="a"), part(usage(0), text="b"), DONE],
    "a chat whose text is a list of parts": [
        *(part(delta={"content": its}) for its in (THOUGHT, [{"type": "text", "text": " y"}])), DONE,
    ],
    "reasoning, in counted parts": [part(usage(3), **HM), part(usage(4), **NO), DONE],
    "reasoning, in parts without a count": [part(**HUM), part(usage(4), **NO), DONE],
    "reasoning that the server counts": [part(**HM), part(usage(10, reasoning_tokens=9), **NO), DONE],
    "reasoning of zero tokens": [part(**HM), part(usage(10, reasoning_tokens=0), **NO), DONE],
    "more reasoning than tokens": [part(**HM), part(usage(10, reasoning_tokens=11), **NO), DONE],
    "reasoning details that are no counts": [
        part(**HM), part({"completion_tokens": 4, "completion_tokens_details": [-1]}, **NO), DONE,
    ],
    "a text beside a thought": [part(text="no", delta={"reasoning": "a long thought"}, finish_reason="stop"), DONE],
}  # fmt: skip


def told(stream: Iterable[bytes]) -> str:
    """Times are in order, one for each part."""
    lines = Lines(4)
    assert any(map(lines.feed, stream)) != (stream is STREAMS["pieces of a byte"]), "nothing is read after the end"
    answer = lines.answer()
    assert answer.part_seconds == sorted(answer.part_seconds)
    parts = f"{len(answer.part_seconds)} parts of {answer.part_tokens}"
    parts += f", {answer.reasoning:.0%} reasoning" if answer.reasoning else ""
    return f"{answer.text!r}: {answer.tokens} tokens after {answer.prompt_tokens}, {answer.finish!r}, {parts}"


def test_an_answer_has_its_text_its_tokens_and_its_parts(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(f"{name}: {told(stream)}" for name, stream in STREAMS.items()) == snapshot


def who(server: FakeServer, model: str | None = None, settings: BenchSettings = SETTINGS) -> str:
    """What it is found to be, and how it is asked then; or why it is not."""

    async def meet(endpoint: Endpoint) -> Server:
        await endpoint.meet(model, ASKED)
        await endpoint.listen(ASKED)
        return endpoint.server

    try:
        with running(server):
            its = with_endpoint(server, meet, settings)
    except InputError as refused:
        return str(refused).replace(server.url, "URL")
    bodies = server.asked[-2:]
    salts = {body.pop("cache_salt", None) for body in bodies}
    assert server.keys == {f"Bearer {KEY}"}
    assert len(salts) == 1 + (settings is COLD and its.system == "vLLM"), "a new salt for each request"
    known = f"{its.model}, {its.system} {its.version}, ignores an end: {its.takes_ignore_eos}, slots: {its.slots}"
    return f"{known}\n  {json.dumps(bodies[-1], sort_keys=True)}"


def props(slots: object) -> FakeServer:
    return FakeServer("llamacpp", pages={"/props": {"build_info": "b11434", "total_slots": slots}})


COLD, WARM = replace(SETTINGS, prefix_cache="cold"), replace(SETTINGS, prefix_cache="warm")
ALL, ANY = "anything", [{"id": "*", "owned_by": "proxy"}]
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
    "SGLang": (FakeServer("sglang", pages={"/server_info": {"version": "0.5"}}), {}),
    "one of two": (FakeServer(models=("a", "b")), {"model": "b"}),
    "a list of models, one for all": (FakeServer(models=(ALL,), pages={"/v1/models": ANY}), {"model": ALL}),
    "one for all": (FakeServer(models=(ALL,), pages={"/v1/models": {"data": ANY}}), {"model": ALL}),
    "one of two, none named": (FakeServer(models=("a", "b")), {}),
    "another name than its only one": (FakeServer(), {"model": "x"}),
    "another name, and no list": (FakeServer(models=()), {"model": "x"}),
    **{f"refuses {name}": (FakeServer(refuses=name, writes=8), {})
       for name in ("stream_options", "seed", "max_tokens", "ignore_eos")},
}  # fmt: skip


def test_a_server_says_who_it_is_and_is_asked_what_it_takes(snapshot: SnapshotAssertion) -> None:
    told = "\n".join(f"{name}: {who(server, **given)}" for name, (server, given) in MET.items())
    assert told == snapshot
    assert KEY not in told


def test_a_connection_that_the_server_had_closed_is_opened_again() -> None:
    """llama.cpp closes connections although it says that it keeps them."""

    async def thrice(endpoint: Endpoint) -> list[str]:
        texts = list[str]()
        for _ in range(3):
            assert await endpoint.metrics()  # leaves a connection for the next question
            texts.append((await listen(endpoint)).text)
        return texts

    with running(server := FakeServer(closes=True)):
        assert set(with_endpoint(server, thrice)) == {"Once upon a time"}
    assert server.dropped


def test_a_server_that_asks_to_wait_is_waited_for_and_its_answer_took_that_long() -> None:
    replies = (sleep(0.2) or Reply([b"{}"], 429, JSON | {"Retry-After": "0"}) for _ in range(2))
    server = FakeServer()
    server.answer = lambda body: next(replies, None) or Reply(server.parts(body))
    assert known(ask(server).first) > 0.4
    assert len(server.asked) == 3


ADDRESSES = {
    "http://localhost:8000": "http://localhost:8000/v1",
    "http://localhost:8000/": "http://localhost:8000/v1",
    " https://host/v1/ ": "https://host/v1",
    "https://host/proxy/v1/chat/completions": "https://host/proxy/v1",
    "http://[::1]:8000/v1": "http://[::1]:8000/v1",
}
NO_ADDRESSES = ["", "localhost:8000", "ftp://host", "http://", "http://host:99999", "http://h/?key=1", "http://[::1"]


def test_an_address_as_people_write_it_is_read_and_what_is_none_is_refused() -> None:
    assert {text: parse_address(text, "--with") for text in ADDRESSES} == ADDRESSES
    for text in [*NO_ADDRESSES, "http://me:pass@host"]:
        with pytest.raises(InputError, match=r"^--without: ") as raised:
            parse_address(text, "--without")
        assert "pass@" not in str(raised.value)
