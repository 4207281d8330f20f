"""The lines of docs/traces.md that write down an assisted run of transformers: what they write is a trace."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from specviz.systems import RecordOptions, import_run
from tests.support.tiny_models import tiny_model

PROMPT = [1, 2, 3, 1, 2]
DOCUMENT = Path(__file__).parents[2] / "docs/traces.md"


@pytest.mark.parametrize("lookup", [False, True], ids=["assistant model", "prompt lookup"])
def test_the_documents_lines_record_what_generate_writes(tmp_path: Path, lookup: bool) -> None:
    target, draft = tiny_model(1, vocabulary=12).model, tiny_model(2, vocabulary=12).model
    [lines] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(lines, names)  # our own document
    path, ids, how = tmp_path / "rounds.jsonl", torch.tensor([PROMPT]), {"do_sample": False, "max_new_tokens": 20}
    names["write_rounds"](target, path, transformers="5.23.0", **how)
    how |= {"prompt_lookup_num_tokens": 3} if lookup else {"assistant_model": draft}
    written = target.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **how)[0].tolist()
    tokenizer = Mock(texts=lambda ids: [f" {token}" for token in ids])
    trace = import_run(path.read_bytes(), "transformers", RecordOptions(tokenizer=tokenizer))
    assert trace.prompt.token_ids + trace.output.token_ids == written
    assert (trace.prompt.token_ids, trace.output.stopped_by) == (PROMPT, "length")
    drafted = [token.id for round in trace.rounds for token in round.drafted]
    assert drafted
    assert None not in drafted
