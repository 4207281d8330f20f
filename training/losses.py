"""What a model's last states expect, and how far that is from what is wanted, in nats a token."""

import torch
import torch.nn.functional as F
from torch import Tensor

ABLE = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()  # to multiply bfloat16
WORK = torch.bfloat16 if ABLE else torch.float32  # of the products; elsewhere bfloat16 is slower


def logits(hidden: Tensor, weight: Tensor) -> Tensor:
    """Of states, (rows, width), and an output embedding, (vocabulary, width): (rows, vocabulary), float32."""
    return (hidden.to(WORK) @ weight.to(WORK).T).float()


def next_token_loss(hidden: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy; `labels` are the tokens that follow, (rows,)."""
    return F.cross_entropy(logits(hidden, weight), labels)


@torch.no_grad()
def distribution(hidden: Tensor, weight: Tensor) -> Tensor:
    """What a model expects after each state, (rows, vocabulary)."""
    return logits(hidden, weight).softmax(-1)


def divergence(hidden: Tensor, weight: Tensor, wanted: Tensor) -> Tensor:
    """KL(wanted || model), from a `distribution`, which several losses may share."""
    entropy: Tensor = torch.special.entr(wanted).sum(-1).mean()
    return F.cross_entropy(logits(hidden, weight), wanted) - entropy
