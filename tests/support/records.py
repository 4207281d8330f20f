"""Records of other systems: the files in tests/fixtures/records, which all describe the same run, and a tokenizer.

And a run of our own engine.
"""

import gzip
from collections.abc import Sequence
from pathlib import Path

from specviz.core.trace import Trace, parse_trace

FIXTURES = Path(__file__).parents[1] / "fixtures"
RECORDS = FIXTURES / "records"
SYSTEM_OF = {
    "vllm-0.29-chat.json": "vllm",
    "vllm-0.29-completion-stream.txt": "vllm",
    "llama.cpp-001d906-completion-stream.txt": "llama.cpp",
    "llama.cpp-001d906-chat-stream.txt": "llama.cpp",
    "sglang-001067f-generate-stream.txt": "sglang",
    "transformers-5.23.jsonl": "transformers",
    "lmstudio-sdk-1.5.json": "lmstudio",
}
PIECES = ["Once", " upon", " a", " time", ",", " a", " cat", " sat", ".", " The", " end", "."]
IDS = [9241, 5304, 264, 882, 11, 264, 8415, 7731, 13, 578, 842, 13]
TEXT = "".join(PIECES)


class FakeTokenizer:
    """Knows the tokens of these records, and calls any other by its id."""

    def texts(self, token_ids: Sequence[int]) -> list[str]:
        known = dict(zip(IDS, PIECES, strict=True))
        return [known.get(token_id, f"<{token_id}>") for token_id in token_ids]

    def encode(self, text: str) -> list[int]:
        assert text == TEXT
        return IDS


def record(name: str) -> bytes:
    return (RECORDS / name).read_bytes()


def tree_run() -> Trace:
    """A sampled run with trees of 4, 2 and 1 guesses. `test_a_recorded_run_is_decoded_again` compares it."""
    return parse_trace(gzip.decompress((FIXTURES / "tree.json.gz").read_bytes()))


def report(name: str) -> Path:
    """The file “NN/file” of a public report, in the folder whose name begins with NN."""
    number, _, file = name.partition("/")
    [folder] = (FIXTURES / "reports").glob(f"{number}-*")
    return folder / file
