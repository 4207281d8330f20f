"""Matrices in the order that oneDNN multiplies fastest, where the processor multiplies bfloat16 by itself.

A weight is then read once for all tokens of a pass. And one row of a bfloat16 product had the same bits whatever rows
were beside it, on a processor with AMX (`benchmarks/exactness.py`): `F.linear` promises neither. The two operators are
private to torch, whose own compiler uses them. So each matrix is compared with `F.linear` when it is packed, and stays
as it is where they are missing or wrong.
"""

import os
from functools import cache
from typing import ClassVar

import torch
from torch import Tensor

from specviz.models.llama import Linear

OFF = "SPECVIZ_PACKED"  # "0" leaves every matrix as it is
MOST_APART = 0.02  # as a share of the largest number: bfloat16 rounds by up to 0.4 %


class PackedLinear(Linear):
    """The same product. `weight` has its shape and its number format; only oneDNN can read its numbers."""

    rows_are_independent: ClassVar[bool] = True

    def __call__(self, x: Tensor) -> Tensor:
        made: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return made


def packs(matrix: Tensor) -> bool:
    """Whether a matrix of this number format and device is worth packing here."""
    return matrix.dtype == torch.bfloat16 and matrix.device.type == "cpu" and multiplies_bfloat16()


def packed(linear: Linear) -> Linear:
    """The matrix packed, if that gives the same products up to rounding; else as it is."""
    x = torch.randn(2, linear.weight.shape[1], generator=torch.Generator().manual_seed(0)).to(linear.weight.dtype)
    try:
        made = PackedLinear(torch.ops.mkldnn._reorder_linear_weight(linear.weight.contiguous()), linear.bias)
        ours, expected = made(x).float(), linear(x).float()
    except (AttributeError, RuntimeError):  # this torch has no such operators, or they refuse this matrix
        return linear
    close = torch.allclose(ours, expected, rtol=0, atol=MOST_APART * float(expected.abs().max()))
    return made if close else linear


def plain(linear: Linear) -> Tensor:
    """The matrix as rows of numbers, (out, in)."""
    return linear.weight.to_dense() if isinstance(linear, PackedLinear) else linear.weight


@cache
def multiplies_bfloat16() -> bool:
    """Whether the processor does by itself, so that bfloat16 pays."""
    able = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return bool(able) and os.environ.get(OFF) != "0"
