"""A server that misbehaves gets one sentence, within bounds of bytes, memory and time; the key is in none of them."""

import itertools
import json
import socket
import tracemalloc
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from specviz.core.errors import InputError
from specviz.measure.endpoints.address import parse_address
from specviz.measure.endpoints.client import Asked, Endpoint, open_client
from specviz.measure.endpoints.reading import BadAnswer, StreamedAnswer
from tests.support.endpoint_server import JSON, FakeServer, Reply, event, run_async, running, said

KEY = "sk-secret-0123456789"
ASKED = Asked("Once", (), 4, 0.0, 0)
TEXT = event({"choices": [{"text": "Once"}]})


async def asked(server: FakeServer, whole: float = 20.0) -> StreamedAnswer:
    async with open_client(1) as http:
        address = parse_address(server.url, "--with")
        return await Endpoint(address, http, "completions", KEY, whole, model="wren").answer_to(ASKED)


def ask(server: FakeServer, whole: float = 20.0) -> StreamedAnswer:
    with running(server):
        return run_async(asked(server, whole))


def endless(part: bytes) -> Iterator[bytes]:
    return itertools.repeat(part)


def dripping() -> Iterator[bytes]:
    """A part now and then, for ever; the client's limit of time ends it."""
    import time

    while True:
        yield TEXT
        time.sleep(0.01)


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
    "another object": (Reply([event({"choices": "all"})]), "a part that is no answer of a completion"),
    "an error in the stream": (Reply([TEXT, event({"error": {"message": "out of memory"}})]), "“out of memory”"),
    "llama.cpp's error": (Reply([TEXT, b'error: {"message": "slot\\u001b[31m lost"}\n']), "it says “slot�[31m lost”"),
    "the end in the middle": (Reply([TEXT], cut=True), "it ended the connection in the middle"),
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
    "a wrong model": (said("The model `x` does not exist.", 404), "it answered 404 Not Found: “The model `x` does not"),
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


def test_an_answer_has_its_text_tokens_and_times() -> None:
    answer = ask(FakeServer(drafts=2))
    assert answer.text == "Once upon a time"
    assert answer.tokens == 4
    assert answer.prompt_tokens == 3
    assert answer.finish == "length"
    assert len(answer.part_seconds) == 2  # a part may hold several tokens
    assert answer.part_seconds == sorted(answer.part_seconds)


def test_running_totals_give_the_tokens_of_each_part() -> None:
    parts = [event({"choices": [{"text": t}], "usage": {"completion_tokens": n}}) for t, n in (("a", 1), ("b c d", 4))]
    assert ask(FakeServer(answer=lambda _: Reply([*parts, b"data: [DONE]\n"]))).part_tokens == [1, 3]


def test_a_part_that_comes_in_pieces_is_one() -> None:
    whole = event({"choices": [{"text": "día", "finish_reason": "stop"}]})
    answer = ask(FakeServer(answer=lambda _: Reply([whole[i : i + 1] for i in range(len(whole))])))
    assert answer.text == "día"
    assert len(answer.part_seconds) == 1


@pytest.mark.parametrize("done", [b"data:[DONE]\n", b"data: [DONE]\r\n\r\n"])
def test_the_end_is_known_in_each_way_of_writing_it(done: bytes) -> None:
    assert ask(FakeServer(answer=lambda _: Reply([TEXT, done]))).ended


def meet(server: FakeServer, model: str | None = None, **given: Any) -> Endpoint:
    async def met() -> Endpoint:
        async with open_client(1) as http:
            endpoint = Endpoint(parse_address(server.url, "--with"), http, "completions", KEY, **given)
            await endpoint.meet(model, ASKED)
            await endpoint.answer_to(ASKED)
            return endpoint

    with running(server):
        return run_async(met())


def test_a_server_says_who_it_is() -> None:
    server = meet(FakeServer()).server
    assert (server.model, server.system, server.version, server.takes_ignore_eos) == ("wren", "vLLM", "0.32.0", True)
    assert KEY not in repr(server)


def test_a_server_that_refuses_unknown_fields_is_asked_without_them() -> None:
    server = FakeServer(owner="somebody", refuses=("ignore_eos",))
    assert not meet(server).server.takes_ignore_eos
    assert "ignore_eos" not in server.asked[-1]


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
    assert meet(FakeServer(models=("a", "b")), "b").model == "b"


def test_a_connection_that_the_server_had_closed_is_opened_again() -> None:
    """llama.cpp closes connections although it says that it keeps them."""
    server = FakeServer(closes=True)

    async def twice() -> list[str]:
        async with open_client(1) as http:
            endpoint = Endpoint(parse_address(server.url, "--with"), http, "completions", model="wren")
            texts = list[str]()
            for _ in range(3):
                assert await endpoint.metrics()  # leaves a connection for the next question
                texts.append((await endpoint.answer_to(ASKED)).text)
            return texts

    with running(server):
        assert set(run_async(twice())) == {"Once upon a time"}
    assert server.dropped


def test_the_key_goes_with_each_request() -> None:
    server = FakeServer()
    meet(server)
    assert set(server.keys) == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1"),
        ("http://localhost:8000/", "http://localhost:8000/v1"),
        (" https://host/v1/ ", "https://host/v1"),
        ("https://host/proxy/v1/chat/completions", "https://host/proxy/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_as_people_write_it(text: str, base: str) -> None:
    assert parse_address(text, "--with").base == base
    assert parse_address("https://host/proxy/v1", "--with").root == "https://host/proxy"


@pytest.mark.parametrize(
    "text",
    [
        *("", "localhost:8000", "ftp://host", "http://", "http://host:99999"),
        *("http://me:pass@host", "http://h/?key=1", "http://[::1"),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^--without: ") as raised:
        parse_address(text, "--without")
    assert "pass@" not in str(raised.value)


def streamed(*parts: dict[str, Any]) -> FakeServer:
    return FakeServer(answer=lambda _: Reply([*map(event, parts), b"data: [DONE]\n\n"]))


def test_zeros_in_the_place_of_a_count_are_no_count() -> None:
    nothing = {"usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    answer = ask(streamed({"choices": [{"text": "a"}]} | nothing, {"choices": [{"text": "b"}]} | nothing))
    assert (answer.tokens, answer.part_tokens, answer.text) == (None, [], "ab")


def test_a_chat_may_write_its_text_as_a_list_of_parts() -> None:
    thought = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    said_next = {"choices": [{"delta": {"content": [{"type": "text", "text": " yes"}]}}]}
    answer = ask(streamed({"choices": [{"delta": {"content": thought}}]}, said_next))
    assert answer.text == "hm yes"
    assert len(answer.part_seconds) == 2


@pytest.mark.parametrize("field", ["stream_options", "seed", "max_tokens", "ignore_eos"])
def test_a_field_that_a_server_refuses_by_name_is_left_out(field: str) -> None:
    server = FakeServer(refuses=(field,), writes=8)
    meet(server)
    assert field not in server.asked[-1]
    assert server.asked[-1].keys() >= {"model", "prompt", "temperature"}
    assert ("max_completion_tokens" in server.asked[-1]) == (field == "max_tokens")
    assert "top_k" in server.asked[-1]


def test_a_server_that_asks_to_wait_is_waited_for() -> None:
    replies = iter([Reply([b"{}"], 429, {"Content-Type": "application/json", "Retry-After": "0"})])
    server = FakeServer()
    server.answer = lambda body: next(replies, None) or Reply(server.parts(body))
    assert ask(server).tokens
    assert len(server.asked) == 2


@pytest.mark.parametrize("wrapped", [True, False])
def test_models_may_be_a_bare_list_and_one_may_stand_for_all(wrapped: bool) -> None:
    listed = [{"id": "*", "owned_by": "proxy"}]

    class Listing(FakeServer):
        def reply(self, path: str, body: dict[str, Any]) -> Reply:
            if path.endswith("/models"):
                return Reply([json.dumps({"data": listed} if wrapped else listed).encode()], headers=JSON)
            return super().reply(path, body | {"model": "*"} if body else body)

    server = Listing(models=("*",))
    assert meet(server, "anything").model == "anything"


@pytest.mark.parametrize(("total", "slots"), [(4, 4), (0, None), (True, None), ("4", None)])
def test_a_server_says_how_many_requests_it_answers_at_once(total: object, slots: int | None) -> None:
    class Props(FakeServer):
        def reply(self, path: str, body: dict[str, Any]) -> Reply:
            if path == "/props":
                return Reply([json.dumps({"build_info": "b11434", "total_slots": total}).encode()], headers=JSON)
            return super().reply(path, body)

    server = meet(Props(owner="llamacpp")).server
    assert (server.system, server.version, server.slots) == ("llama.cpp", "b11434", slots)


def test_both_servers_have_the_same_choice_of_their_prefix_cache() -> None:
    def salts(owner: str, cache: Literal["cold", "warm"]) -> list[object]:
        server = FakeServer(owner=owner)
        meet(server, cache=cache)
        return [body.get("cache_salt" if owner == "vllm" else "cache_prompt") for body in server.asked]

    assert len(set(salts("vllm", "cold"))) == 2, "a new salt for each request"
    assert salts("vllm", "warm") == [None] * 2
    assert salts("llamacpp", "cold") == [False] * 2
    assert salts("llamacpp", "warm") == [True] * 2
