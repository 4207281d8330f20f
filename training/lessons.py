"""The training data of drafts: rows of text, some written by the target, with the target's last hidden states.

The states are stored, not the distributions: multiplied by the target's output embedding they give the whole
distribution, and 256 numbers a token are a sixteenth of 4,096. Reading the text with the target is most of the work of
distilling; with stored states it is done once for all drafts and all passes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from specviz.core.errors import InputError
from training.data import Mixture, say

PROMPT_TOKENS = 24  # of the corpus, before the target continues by itself
TEMPERATURES = (0.0, 0.7, 1.0)  # of the target's own texts, alternately: visitors decode with all of these
AT_ONCE = 16  # rows


@dataclass(frozen=True, slots=True)
class Lessons:
    """Rows of ids, with the target's hidden states for them."""

    ids: Tensor  # (rows, length), int32
    states: Tensor  # (rows, length, width), bfloat16
    weight: Tensor  # the target's output embedding, (vocabulary, width)
    about: list[dict[str, Any]] = field(default_factory=list)  # how each file was made; for logs

    def batch(self, step: int, rows: int, seed: int) -> tuple[Tensor, Tensor]:
        """Ids and states of `rows` rows; each is used once before any is used again, in an order set by the seed."""
        total = len(self.ids)
        rows = min(rows, total)
        turns = total // rows
        order = torch.randperm(total, generator=torch.Generator().manual_seed(seed * 1_000_003 + step // turns))
        chosen = order[step % turns * rows :][:rows]
        return self.ids[chosen].long(), self.states[chosen]

    def save(self, path: Path) -> None:
        """Write to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save([self.ids, self.states, self.weight, self.about], path)


def load_lessons(paths: Iterable[Path]) -> Lessons:
    """Lessons of one target, from one file or several. InputError: a file is missing."""
    try:
        parts = [Lessons(*torch.load(path, weights_only=True)) for path in paths]
    except FileNotFoundError as error:
        raise InputError(f"There are no lessons at {error.filename}.") from None
    about = [entry for part in parts for entry in part.about]
    return Lessons(torch.cat([p.ids for p in parts]), torch.cat([p.states for p in parts]), parts[0].weight, about)


def states(model: LlamaForCausalLM, ids: Tensor) -> Tensor:
    """Last hidden states after each token, (rows x length, width), in float32; the matrices run in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        hidden: Tensor = model.model(input_ids=ids, use_cache=False).last_hidden_state
    return hidden.float().flatten(0, 1)


def read_with(teacher: LlamaForCausalLM, ids: Tensor) -> Lessons:
    """The target's states on these rows, (rows, length)."""
    taught = []
    with torch.no_grad():
        for start in range(0, len(ids), AT_ONCE):
            rows = ids[start : start + AT_ONCE].long()
            taught.append(states(teacher, rows).bfloat16().view(*rows.shape, -1))
            if start // AT_ONCE % 10 == 0:
                say(f"read {start} of {len(ids)} rows")
    return Lessons(ids.int(), torch.cat(taught), teacher.lm_head.weight.detach().clone())


@torch.no_grad()
def written_rows(teacher: Any, mixture: Mixture, rows: int, length: int, seed: int) -> Tensor:
    """Rows that begin with a piece of the corpus and are continued by the target, (rows, length)."""
    torch.manual_seed(seed)
    prompts = mixture.batch(1, rows, PROMPT_TOKENS)[:, :-1]
    written: list[Tensor] = []
    for number, part in enumerate(torch.split(prompts, 4 * AT_ONCE)):
        say(f"written {number * 4 * AT_ONCE} of {rows} rows")
        heat = TEMPERATURES[number % len(TEMPERATURES)]
        how: dict[str, Any] = {"do_sample": True, "temperature": heat, "top_k": 0} if heat else {"do_sample": False}
        made: Any = teacher.generate(
            part,
            attention_mask=torch.ones_like(part),
            max_length=length,
            eos_token_id=teacher.config.vocab_size,  # never written: continue after the end of a text, as in the corpus
            pad_token_id=0,
            **how,
        )
        written.append(made)
    return torch.cat(written)
