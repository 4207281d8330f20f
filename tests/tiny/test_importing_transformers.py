"""The lines of docs/traces.md record transformers' own assisted generation; the import shows it id for id."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from specviz.data.importers import Given, import_run
from tests.support.tiny_models import tiny_model

DOCUMENT = Path(__file__).parents[2] / "docs/traces.md"
PROMPT = [1, 2, 3, 1, 2, 3, 1]


class Numbers:
    """Each id is its own text."""

    def texts(self, token_ids: Any) -> list[str]:
        return [f" {token_id}" for token_id in token_ids]

    def encode(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]


def written_rounds(tmp_path: Path, model: Any, **options: Any) -> tuple[bytes, list[int]]:
    """What the document's lines write during a greedy `generate`, and what that returns."""
    [lines] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(lines, names)  # our own document
    path = tmp_path / "rounds.jsonl"
    names["write_rounds"](model, path, transformers="5.23.0", do_sample=False, max_new_tokens=20)
    ids = torch.tensor([PROMPT])
    out = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=20, pad_token_id=0, **options
    )
    return path.read_bytes(), out[0, len(PROMPT) :].tolist()


@pytest.mark.parametrize("lookup", [False, True], ids=["assistant model", "prompt lookup"])
def test_the_documents_lines_record_what_generate_writes(tmp_path: Path, lookup: bool) -> None:
    target, draft = tiny_model(1, vocabulary=12).model, tiny_model(2, vocabulary=12).model
    options = {"prompt_lookup_num_tokens": 3} if lookup else {"assistant_model": draft}
    content, written = written_rounds(tmp_path, target, **options)
    trace = import_run(content, "transformers", Given(tokenizer=Numbers()))
    assert trace.output.token_ids == written
    assert trace.prompt.token_ids == PROMPT
    assert trace.output.stopped_by == "length"
    assert sum(len(round.drafted) for round in trace.rounds) > 0
    assert all(token.id is not None for round in trace.rounds for token in round.drafted)
