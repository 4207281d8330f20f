"""How weights are stored in memory: changes their order, but no value."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:  # importing transformers' model classes takes seconds and 120 MB
    from transformers import PreTrainedModel


def stored_fast(matrix: Tensor) -> Tensor:
    """The matrix in the order that makes a pass fast: by columns if it is float32 on the CPU, otherwise by rows.

    A forward pass over 1 to 17 tokens multiplies a very flat matrix by each weight. The processor's matrix library is
    faster with this order: on the bundled target by 8 % for one token and by 16 % for five, measured with transformers'
    forward pass. bfloat16 uses other code, where the order makes no difference.
    """
    by_columns = matrix.dtype == torch.float32 and matrix.device.type == "cpu"
    return matrix.t().contiguous().t() if by_columns else matrix.contiguous()


def store_fast(model: "PreTrainedModel") -> None:
    """Store each matrix of a model so; a matrix that is stored so already is not copied."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight.data = stored_fast(module.weight.data)
