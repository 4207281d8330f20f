"""Losses on the output distribution, computed without storing all of it.

For both losses the gradient with respect to the logits is q - p (q the model's distribution, p the wanted one), so it
is computed in slices in the forward pass. Otherwise a batch of 4,096 tokens over 4,096 words would be written and read
many times, and on a CPU that takes more time than the arithmetic.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

ABLE = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()  # to multiply bfloat16
WORK = torch.bfloat16 if ABLE else torch.float32  # of the products; elsewhere bfloat16 is slower
SLICE = 256  # rows at once: their logits stay in the processor's cache

Wanted = Callable[[int, int], tuple[Tensor, Tensor]]  # rows from, to -> (p, its entropy), (rows, vocabulary), (rows,)


class _HeadLoss(torch.autograd.Function):
    """Mean over rows of -sum p log q, minus the entropy of p, with q = softmax(hidden @ weight.T)."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, wanted: Wanted) -> Tensor:
        work = weight.to(WORK)
        into_hidden, into_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        total = torch.zeros((), dtype=torch.float32)
        for start in range(0, len(hidden), SLICE):
            rows = hidden[start : start + SLICE].to(WORK)
            log_q = (rows @ work.T).float().log_softmax(-1)
            p, entropy = wanted(start, start + len(rows))
            total += -(p * log_q).sum() - entropy.sum()
            gradient = (log_q.exp_() - p).to(WORK)
            into_hidden[start : start + SLICE] = gradient @ work
            if ctx.needs_input_grad[1]:  # not the embedding of a target whose head is trained
                into_weight += gradient.T @ rows
        ctx.save_for_backward(into_hidden.div_(len(hidden)), into_weight.div_(len(hidden)))
        return total / len(hidden)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None, None]:
        into_hidden, into_weight = ctx.saved_tensors
        return into_hidden * gradients[0], into_weight * gradients[0] if ctx.needs_input_grad[1] else None, None


def next_token_loss(hidden: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in nats a token.

    Args:
        hidden: the model's last states, (rows, width).
        weight: its output embedding, (vocabulary, width).
        labels: the tokens that follow, (rows,).
    """

    def wanted(start: int, stop: int) -> tuple[Tensor, Tensor]:
        ones = torch.nn.functional.one_hot(labels[start:stop], len(weight)).float()
        return ones, torch.zeros(())

    loss: Tensor = _HeadLoss.apply(hidden, weight, wanted)  # type: ignore[no-untyped-call]
    return loss


def distillation_loss(hidden: Tensor, weight: Tensor, teacher_hidden: Tensor, teacher_weight: Tensor) -> Tensor:
    """KL(teacher || model) in nats a token, over the whole vocabulary; shapes as in `next_token_loss`."""
    work = teacher_weight.to(WORK)

    def wanted(start: int, stop: int) -> tuple[Tensor, Tensor]:
        return distribution(teacher_hidden[start:stop], work)

    loss: Tensor = _HeadLoss.apply(hidden, weight, wanted)  # type: ignore[no-untyped-call]
    return loss


def distribution(hidden: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """What a model expects after each state, (rows, vocabulary), and the entropy of each row in nats, (rows,)."""
    log_p = (hidden.to(WORK) @ weight.to(WORK).T).float().log_softmax(-1)
    p = log_p.exp()
    return p, -(p * log_p).sum(-1)


def divergence(hidden: Tensor, weight: Tensor, target: tuple[Tensor, Tensor]) -> Tensor:
    """KL(target || model) like `distillation_loss`, from a `distribution` that several losses share."""
    p, entropy = target

    def wanted(start: int, stop: int) -> tuple[Tensor, Tensor]:
        return p[start:stop], entropy[start:stop]

    loss: Tensor = _HeadLoss.apply(hidden, weight, wanted)  # type: ignore[no-untyped-call]
    return loss
