"""Chats of a target that is no model of this repository, with its last states: what a head on it is trained on.

Each chat is a text of its own length: chats of about one length make a batch, and places after a chat's end are not
judged. A chat whose ids add up to a multiple of `HELD_OUT` is never trained on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import torch
from torch import Tensor

from specviz.core.errors import InputError
from training.heads import Batch, Head
from training.losses import distribution, divergence

HELD_OUT = 20
ASKED = 0.3  # a place of the question is judged so often as one of the answer: the head drafts the answers


@dataclass(frozen=True, slots=True)
class Chat:
    ids: Tensor  # (n,) int32
    states: Tensor  # (n - 1, hidden) float16: the target has not read the last token
    user: int  # where the user's words begin
    answer: int  # where the answer begins

    @property
    def is_held_out(self) -> bool:
        return int(self.ids.sum()) % HELD_OUT == 0


def load_chats(folder: Path) -> list[Chat]:
    """The chats in the files of a folder, in the order of writing. InputError: there are none."""
    files = sorted(folder.glob("*.pt"), key=lambda file: file.stat().st_mtime)
    found = (each for file in files for each in torch.load(file, weights_only=True)["chats"])
    chats = [Chat(each["ids"], each["states"], each["user"], each["answer"]) for each in found]
    if not chats:
        raise InputError(f"The folder {folder} has no chats.")
    return chats


def frequent_words(chats: Sequence[Chat], count: int) -> Tensor:
    """The ids of the `count` words that are most frequent in the chats, rising.

    Words that were seen once only are as good as any other: the smallest ids are taken first, which byte-level BPE
    made of the most frequent pairs.
    """
    seen: Counter[int] = Counter()
    for chat in chats:
        seen.update(chat.ids[chat.user :].tolist())
    ranked = dict.fromkeys([word for word, often in seen.most_common() if often > 1] + list(range(count)))
    return torch.tensor(sorted(list(ranked)[:count]))


def batch_of(chats: Sequence[Chat]) -> Batch:
    """Chats of about one length; entry j of the last is about what the target expects after place j."""
    ends = [(chat.user - 1, chat.answer - 1, len(chat.states)) for chat in chats]
    user, answer, end = torch.tensor(ends).T[..., None]  # each (rows, 1)
    ids = torch.zeros(len(chats), int(end.max()), dtype=torch.long)
    states = torch.zeros(*ids.shape, chats[0].states.shape[1])
    for row, chat in enumerate(chats):
        ids[row, : len(chat.states)], states[row, : len(chat.states)] = chat.ids[:-1], chat.states
    places = torch.arange(ids.shape[1])
    often = ASKED * (places >= user) + (1 - ASKED) * (places >= answer)
    return ids, states, often * (places < end)


def endless(load: Callable[[], Sequence[Chat]], tokens: int, seed: int) -> Iterator[list[Chat]]:
    """Chats of about one length together, about `tokens` of them; each is used once before any is used again.

    `load` is asked again before each turn, so a folder may grow while a head is trained.
    """
    for turn in count():
        groups: list[list[Chat]] = []
        for chat in sorted((chat for chat in load() if not chat.is_held_out), key=lambda chat: len(chat.ids)):
            if not groups or (len(groups[-1]) + 1) * len(chat.ids) > tokens:
                groups.append([])
            groups[-1].append(chat)
        Random(seed * 1_000_003 + turn).shuffle(groups)
        yield from groups


@torch.no_grad()
def held_out_guesses(model: Head, chats: Sequence[Chat], weight: Tensor, most: int) -> dict[str, list[float]]:
    """Of each guess of a round whose earlier guesses are right, on the held-out answers.

    Returns: "divergence", in nats from the target over the head's words, and "right", the share that is the target's
        most probable of these words.
    """
    sums = torch.zeros(2, most)
    total = 0
    for start in range(0, len(chats), 8):
        ids, states, often = batch_of(chats[start : start + 8])
        judged = (often[:, most:] == 1).flatten()
        wanted = distribution(states[:, most:].flatten(0, 1)[judged], weight)
        for place, guess in enumerate(model.guesses(states, ids, most)):
            hidden = guess[:, most - 1 - place :].flatten(0, 1)[judged]
            same = (hidden @ weight.T).argmax(-1) == wanted.argmax(-1)
            sums[:, place] += torch.stack([divergence(hidden, weight, wanted) * len(hidden), same.sum()])
        total += int(judged.sum())
    rows = (sums / max(1, total)).tolist()
    return {name: [round(each, 4) for each in row] for name, row in zip(("divergence", "right"), rows, strict=True)}
