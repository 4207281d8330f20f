"""Matrices with 16 bits a weight, multiplied in float32 by FBGEMM, which comes with PyTorch on x86 processors.

Without them, most of a pass over a few tokens is fetching weights. Here it fetches half as much, and once for all its
tokens. A row of the product has the same bits whatever rows are beside it, which `F.linear` does not promise. Only a
matrix whose weights fit into 16 bits is packed, as those of nearly every published model do; the others stay as they
are, and so do all where the operators are missing or wrong. torch says that it will remove them: its newer ones do the
same, but take 12 µs more for each of some 50 products of a small model's pass
(`torch.ops.quantized.linear_dynamic_fp16`).
"""

import warnings
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from specviz.core.operator_settings import operator_setting
from specviz.models.llama import ROUND, Linear

MOST_LOST = 2.0**-25  # of a weight: float16 has no smaller steps than twice that, and bfloat16 has
MOST_APART = 1e-5  # of two products in float32, as a share of the largest number
BLOCK = 512  # columns that FBGEMM stores together; the last block takes as much memory as a full one
GROUP = 6  # rows
ROWS = 4096  # that are looked at together: a large vocabulary's matrix is not copied whole


@dataclass(frozen=True, slots=True)
class PackedLinear(Linear):
    """The same product. `weight` has its shape and no numbers; only FBGEMM can read those."""

    numbers: Tensor  # opaque

    def __call__(self, x: Tensor) -> Tensor:
        count = x.size(0)  # len() takes ten times as long
        if more := (padding() or {}).get(count):
            return _multiply(F.pad(x, (0, 0, 0, more)), self.numbers, self.bias)[:count]
        return _multiply(x, self.numbers, self.bias)

    @property
    def rows_are_independent(self) -> bool:
        return padding() is not None

    @property
    def bytes(self) -> int:
        return packed_bytes(self.weight)


def packed(linear: Linear) -> Linear:
    """The matrix packed, if that gives the same products up to rounding; else as it is."""
    matrix = linear.weight
    if matrix.dtype != torch.float32 or matrix.device.type != "cpu" or not (is_able() and fits(matrix)):
        return linear
    shape = torch.empty_like(matrix, dtype=torch.float16, device="meta")
    made = PackedLinear(shape, linear.bias, torch.fbgemm_pack_gemm_matrix_fp16(matrix.contiguous()))
    return made if _agree(made, linear) else linear


def packed_bytes(matrix: Tensor) -> int:
    """Memory that it takes once it is packed."""
    rows, columns = matrix.shape
    return 2 * rows * -(-columns // BLOCK) * BLOCK


def fits(matrix: Tensor) -> bool:
    """Whether 16 bits hold each weight."""
    return all(bool(((part.half().float() - part).abs() <= MOST_LOST).all()) for part in torch.split(matrix, ROWS))


def plain(linear: Linear) -> Tensor:
    """The matrix as rows of numbers, (out, in)."""
    if not isinstance(linear, PackedLinear):
        return linear.weight
    return replace(linear, bias=None)(torch.eye(linear.weight.shape[1])).t().contiguous()


@cache
def is_able() -> bool:
    """Whether this torch has the operators, and they multiply."""
    if operator_setting("SPECVIZ_PACKED") == "0":
        return False
    linear = Linear(torch.ones(8, 8), None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*deprecated", category=UserWarning)  # torch says it once
        try:
            numbers = torch.fbgemm_pack_gemm_matrix_fp16(linear.weight)
            return _agree(PackedLinear(linear.weight, None, numbers), linear)
        except (AttributeError, RuntimeError):
            return False


@cache
def padding() -> dict[int, int] | None:
    """Number of rows → rows to add, so that each row is added up in one order; None: there are none that do it.

    FBGEMM multiplies up to 6 rows at a time, or 14 with AVX-512. Without AVX-512 one and two rows are added up in
    another order than three and more.
    """
    of = torch.Generator().manual_seed(0)
    x, matrix = torch.randn(ROUND + 2 * GROUP, 48, generator=of), torch.randn(32, 48, generator=of).bfloat16().float()
    numbers, found = torch.fbgemm_pack_gemm_matrix_fp16(matrix), dict[int, int]()
    groups = torch.split(x[: len(x) // GROUP * GROUP], GROUP)
    expected = torch.cat([_multiply(each.contiguous(), numbers, None) for each in groups])
    for rows in range(1, ROUND + 1):
        same = (
            torch.equal(_multiply(x[: rows + more], numbers, None)[:rows], expected[:rows]) for more in range(GROUP)
        )
        more = next((more for more, each in enumerate(same) if each), None)
        if more is None:
            return None
        found |= {rows: more} if more else {}
    return found


def _multiply(x: Tensor, numbers: Tensor, bias: Tensor | None) -> Tensor:
    return torch.fbgemm_linear_fp16_weight_fp32_activation(x, numbers, bias)


def _agree(one: Linear, other: Linear) -> bool:
    x = torch.randn(2, other.weight.shape[1], generator=torch.Generator().manual_seed(0))
    made, expected = one(x), other(x)
    return torch.allclose(made, expected, rtol=0, atol=MOST_APART * float(expected.abs().max()))
