"""Files in GGUF, the format of llama.cpp, LM Studio and Ollama: what their head says, and their weights as numbers.

llama.cpp's own package `gguf` unpacks the numbers. The head is read here: that package makes arrays of each entry of a
vocabulary (seconds, and 150 MB for 49,152 tokens), and believes every count that a file states.
The format: github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.texts import Sentences, join_choices
from specviz.models.refusals import broken, explain_unknown

say = Sentences("models")

MAGIC, VERSIONS = b"GGUF", (2, 3)
MOST_FIELDS, MOST_TENSORS, MOST_DIMENSIONS = 2_000, 20_000, 4
MOST_LISTED = 1_200_000  # entries of all lists together; 256,000 tokens come with 256,000 kinds and 514,000 merges
MOST_TEXT = 2**20  # bytes of one text; a chat template has some thousand
MOST_HEAD = 32 * 2**20  # bytes before the weights; those of 256,000 tokens take 18 million
SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}  # a field's type: how `struct` calls it
TEXT, LIST = 8, 9
_NAMES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K")
PACKINGS = [GGMLQuantizationType[name] for name in _NAMES]
UNROUNDED = PACKINGS[:3]
EMBEDDING = "token_embd.weight"
PART = 2**22  # numbers that are unpacked at a time


@dataclass(frozen=True, slots=True)
class StoredTensor:
    shape: tuple[int, ...]  # as torch writes it: what lies together comes last
    packing: GGMLQuantizationType
    start: int  # bytes from the beginning of the file

    @property
    def row_bytes(self) -> int:
        numbers, taken = GGML_QUANT_SIZES[self.packing]
        return self.shape[-1] // numbers * taken


@dataclass(frozen=True, slots=True)
class GgufFile:
    path: Path
    fields: Mapping[str, Any]  # numbers, texts and lists of them
    tensors: Mapping[str, StoredTensor]

    def read_tensor(self, name: str, dtype: torch.dtype) -> Tensor:
        """Its numbers, unpacked a part at a time: never more than one copy is in memory."""
        stored = self.tensors[name]
        columns, rows = stored.shape[-1], prod(stored.shape[:-1])
        end = stored.start + rows * stored.row_bytes
        whole = torch.from_file(str(self.path), shared=False, size=end, dtype=torch.uint8)  # mapped, not read
        packed = whole[stored.start :].view(rows, stored.row_bytes)
        unpacked, step = torch.empty(rows, columns, dtype=dtype), max(1, PART // columns)
        for first in range(0, rows, step):
            numbers = torch.from_numpy(dequantize(packed[first : first + step].clone().numpy(), stored.packing))
            few_bits = dtype == torch.float32 and stored.packing not in UNROUNDED
            unpacked[first : first + step] = _rounded(numbers) if few_bits else numbers
        return unpacked.view(stored.shape)


def _rounded(numbers: Tensor) -> Tensor:
    """To the nearest float16, which changes a number of a few bits by a 2000th at most; then it can be packed."""
    rounded = numbers.half()
    return rounded.float() if bool(rounded.isfinite().all()) else numbers


def read_gguf(path: Path) -> GgufFile:
    """Read the head of a file; nothing that the file states is believed before it is compared with its size.

    Raises InputError: it is no GGUF file, is cut off, or has weights in a packing that does not load.
    """
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return _Head(path, content).read()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(say("no_gguf", name=path.name)) from error


class _Head:
    """Reads one value after the other."""

    def __init__(self, path: Path, content: mmap) -> None:
        self._path, self._content, self._at, self._listed = path, content, 0, 0

    def read(self) -> GgufFile:
        if self._bytes(4) != MAGIC or self._number("I") not in VERSIONS:
            raise InputError(say("no_gguf", name=self._path.name))
        tensors, fields = self._count("Q", MOST_TENSORS), self._count("Q", MOST_FIELDS)
        read = dict(self._field() for _ in range(fields))
        stored = dict(self._tensor() for _ in range(tensors))
        return GgufFile(self._path, read, self._placed(stored, read.get("general.alignment", 32)))

    def _field(self) -> tuple[str, Any]:
        return self._text(), self._value(self._number("I"))

    def _value(self, kind: int) -> Any:
        if kind == TEXT:
            return self._text()
        if kind in SCALARS:
            return self._number(SCALARS[kind])
        if kind != LIST:
            raise self._broken()
        kind, length = self._number("I"), self._count("Q", MOST_LISTED - self._listed)
        self._listed += length
        if kind == TEXT:
            return [self._text() for _ in range(length)]
        if kind not in SCALARS:
            raise self._broken()
        form = f"<{length}{SCALARS[kind]}"
        return list(struct.unpack(form, self._bytes(struct.calcsize(form))))

    def _tensor(self) -> tuple[str, StoredTensor]:
        """With its place among the weights, whose beginning is known only once all are read."""
        name = self._text()
        shape = [self._number("Q") for _ in range(self._count("I", MOST_DIMENSIONS))]
        kind, place = self._number("I"), self._number("Q")
        packing = next((each for each in PACKINGS if each == kind), None)
        if packing is None:
            named = [each.name for each in GGMLQuantizationType if each == kind] or [f"type {kind}"]
            raise explain_unknown(
                self._path.name, name[:80], named[0], join_choices([each.name for each in PACKINGS], "and")
            )
        if not shape or not all(shape) or shape[0] % GGML_QUANT_SIZES[packing][0]:
            raise broken(self._path.name, name)
        return name, StoredTensor(tuple(reversed(shape)), packing, place)

    def _placed(self, stored: Mapping[str, StoredTensor], alignment: Any) -> Mapping[str, StoredTensor]:
        if not isinstance(alignment, int) or alignment < 1:
            raise broken(self._path.name, "general.alignment")
        begin = -(-self._at // alignment) * alignment
        placed = {name: replace(each, start=begin + each.start) for name, each in stored.items()}
        for name, each in placed.items():
            if each.start + prod(each.shape[:-1]) * each.row_bytes > len(self._content):
                raise broken(self._path.name, name)
        return placed

    def _text(self) -> str:
        return self._bytes(self._count("Q", MOST_TEXT)).decode("utf-8", "replace")

    def _count(self, form: str, most: int) -> int:
        count: int = self._number(form)
        if count > most:
            raise self._broken()
        return count

    def _number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self._bytes(struct.calcsize(f"<{form}")))[0]

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._at : self._at + count]
        if self._at + count > MOST_HEAD or len(found) < count:
            raise self._broken()
        self._at += count
        return found

    def _broken(self) -> InputError:
        return broken(self._path.name, f"byte {self._at}")
