"""How weights are stored in memory: changes their order, but no value."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from specviz.models.machine import processor

if TYPE_CHECKING:  # importing transformers' model classes takes seconds and 120 MB
    from transformers import PreTrainedModel


def stored_fast(matrix: Tensor) -> Tensor:
    """The matrix in the order that makes a pass fast: by columns if it is float32 on an AMD processor, else by rows.

    A forward pass over 1 to 17 tokens multiplies a very flat matrix by each weight. On an AMD EPYC the order by columns
    is faster: on the bundled target by 8 % for one token and by 16 % for five, measured with transformers' forward
    pass. On an Intel Xeon the order by rows is: one token takes as long, five take 0.6 times as long (measured with the
    matrices joined as in `llama_weights.py`). bfloat16 uses other code, where the order makes no difference.
    """
    by_columns = matrix.dtype == torch.float32 and matrix.device.type == "cpu" and "AMD" in processor()
    return matrix.t().contiguous().t() if by_columns else matrix.contiguous()


def store_fast(model: "PreTrainedModel") -> None:
    """Store each matrix of a model so; a matrix that is stored so already is not copied."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight.data = stored_fast(module.weight.data)
