"""A bundled draft whose tokens have other numbers drafts as well as before."""

import copy
import json
from pathlib import Path

import torch
from transformers import AutoTokenizer

from specviz import DecodeSettings, load_model
from specviz.core.metrics import count
from specviz.decoding import TranslatedDrafter, fit_drafter, speculative_decode
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers


def test_a_bundled_draft_under_other_ids_does_as_well_as_under_its_own(tmp_path: Path) -> None:
    target, draft = load_model("wren-base"), load_model("wren-nano")
    other = renumbered(draft, tmp_path)
    settings = DecodeSettings(max_new_tokens=32, draft_length=4)
    prompt = "Once upon a time, there was"
    same = speculative_decode(target, fit_drafter(target, draft, settings), prompt, settings)
    drafter = fit_drafter(target, other, settings)
    assert isinstance(drafter, TranslatedDrafter)
    trace = speculative_decode(target, drafter, prompt, settings)
    assert trace.output == same.output
    fates = [[(round.accepted, round.rejected, round.emitted.id) for round in run.rounds] for run in (trace, same)]
    assert fates[0] == fates[1]
    assert count(trace.rounds).accepted > 10


def renumbered(draft: LoadedModel, folder: Path) -> LoadedModel:
    """The same weights and tokens, the ids in reverse but for the special ones."""
    draft.tokenizer.save_pretrained(folder)
    rules = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = {token["id"] for token in rules["added_tokens"]}
    ids = [token_id for token_id in range(len(draft.tokenizer)) if token_id not in special]
    other = dict(zip(ids, reversed(ids), strict=True)) | {token_id: token_id for token_id in special}
    rules["model"]["vocab"] = {token: other[token_id] for token, token_id in rules["model"]["vocab"].items()}
    (folder / "tokenizer.json").write_text(json.dumps(rules), encoding="utf-8")
    model = copy.deepcopy(draft.model)
    rows = [other[token_id] for token_id in range(len(other))]  # its own inverse
    with torch.no_grad():
        for weight in {layer.weight for layer in (model.get_input_embeddings(), model.get_output_embeddings())}:
            weight[: len(rows)] = weight[rows].clone()
    return from_transformers(model, AutoTokenizer.from_pretrained(folder), "renumbered", draft.info)
