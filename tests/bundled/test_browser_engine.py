"""The engine of the browser, run by node, gives what PyTorch and transformers give."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specviz.core.settings import DecodeSettings
from specviz.core.trace import parse_trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import autoregressive_decode
from specviz.decoding.sampler import Sampling
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from tests.support.joint import FALSE_ALARM, Joint, p_value
from tests.support.tiny_models import greedy_of_transformers

ROOT = Path(__file__).parents[2]
PROMPTS = {workload.name: workload.prompts[0].text for workload in WORKLOADS}
DRAFTS = ("wren-small", "wren-mini", "wren-nano", "prompt-lookup")
NEAR_TIE = 1e-3  # logits this close may change places by rounding
SHORT = "Once upon a time"
DRAWS = 2000  # of pairs
DETAILED = 16  # most probable first tokens whose second tokens are told apart; the other pairs are counted together
REST = (-1, -1)

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="node runs the engine")


def in_node(**asked: Sequence[Any]) -> Any:
    command = ["node", "--import", "./tests/js/typescript.js", "tests/js/in_node.js"]
    given = json.dumps(dict.fromkeys(("texts", "passes", "runs", "draws"), ()) | asked)
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def request(prompt: str, draft: str, settings: DecodeSettings) -> dict[str, Any]:
    return {"prompt": prompt, "target": "wren-base", "draft": draft, "settings": asdict(settings)}


def read(model: LoadedModel, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return CachedModel(model, model.rows).read(ids)


def test_texts_get_the_same_ids(target: LoadedModel) -> None:
    texts = [
        *(preset.text for workload in WORKLOADS for preset in workload.all_prompts),
        *(
            path.read_text("utf-8")
            for folder in ("docs", "specviz/decoding")
            for path in (ROOT / folder).glob("*.[mp][dy]")
        ),
        "'s 'S can't WE'LL  \n\n  x",
        "a\u0085b \u00a0\u2003c \ufeff d\x00",
        "é ñ 漢字 🙂🙂\u200d e\u0301 ١٢٣ Ⅷ ½",
        "<|endoftext|> is text here",
    ]
    expected = [target.tokens(text, split_special_tokens=True)["input_ids"] for text in texts]
    assert in_node(texts=texts)["ids"] == expected


def test_logits_differ_from_pytorchs_by_rounding_alone() -> None:
    names, ids = bundled_names(), [(place * 1237 + 11) % 4096 for place in range(128)]
    made = in_node(passes=[(name, ids) for name in names])["logits"]  # more than one block of every kind
    for name, logits in zip(names, map(torch.tensor, made), strict=True):
        expected = read(load_model(name), ids)
        assert (logits - expected).abs().max() < NEAR_TIE, name
        assert torch.equal(logits.argmax(-1), expected.argmax(-1)), name


EVERY_CELL = [(kind, draft, length) for kind in PROMPTS for draft in DRAFTS for length in (1, 2, 4, 7)]
EACH_DRAFT = [(kind, draft, 4) for kind, draft in zip(PROMPTS, DRAFTS, strict=False)]


@pytest.mark.parametrize(
    ("cells", "tokens"),
    [(EACH_DRAFT, 24), pytest.param(EVERY_CELL, 64, marks=pytest.mark.full)],
    ids=["each draft", "every cell"],
)
def test_greedy_texts_are_the_ones_of_pytorch_and_of_transformers(
    target: LoadedModel, cells: list[tuple[str, str, int]], tokens: int, record_property: Callable[[str, object], None]
) -> None:
    """A near-tie may fall the other way; it is reported with its gap."""
    settings = DecodeSettings(max_new_tokens=tokens)
    runs = [request(PROMPTS[kind], draft, replace(settings, draft_length=length)) for kind, draft, length in cells]
    written = {kind: autoregressive_decode(target, PROMPTS[kind], settings).output.token_ids for kind, *_ in cells}
    for kind, text in written.items():
        assert text == greedy_of_transformers(target, target.tokens(PROMPTS[kind])["input_ids"], tokens), kind
    for (kind, draft, length), raw in zip(cells, in_node(runs=runs)["traces"], strict=True):
        trace = parse_trace(json.dumps(raw))  # every other part of the program opens it
        ours, theirs = trace.output.token_ids, written[kind]
        assert ours == trace.autoregressive.token_ids, (kind, draft, length)
        if ours != theirs:
            place = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
            logits = read(target, [*trace.prompt.token_ids, *ours[:place]])[-1]
            gap = float((logits[ours[place]] - logits[theirs[place]]).abs())
            record_property(f"near-tie {kind} {draft} {length}", gap)
            assert gap < NEAR_TIE, (kind, draft, length)


def exact_pairs(model: LoadedModel, settings: DecodeSettings) -> Joint:
    """The probability of each pair after the short prompt, by PyTorch; all but the detailed ones are REST."""
    ids, sampler = model.tokens(SHORT)["input_ids"], Sampling(settings, torch.Generator())

    def after(*more: int) -> torch.Tensor:
        return sampler.scores(read(model, [*ids, *more])[-1:].double())[0]

    first, joint = after(), Joint()
    for a in map(int, first.topk(DETAILED).indices):
        second = after(a)
        joint |= {(a, b): float(first[a] * second[b]) for b in map(int, second.nonzero().flatten()) if first[a] > 0}
    return joint | {REST: 1 - sum(joint.values())}


def chance(pairs: list[list[int]], joint: Joint) -> float:
    detailed = {pair[0] for pair in joint}
    return p_value(Counter((a, b) if a in detailed else REST for a, b in pairs), joint)


@pytest.mark.full
@pytest.mark.parametrize("more", [{}, {"top_k": 12, "top_p": 0.9}], ids=["all", "top-k and top-p"])
@pytest.mark.parametrize("verification", ["token", "block"])
def test_sampled_pairs_are_distributed_as_pytorchs(
    target: LoadedModel, nano: LoadedModel, verification: Any, more: dict[str, Any]
) -> None:
    """A right engine fails once in 10,000 sets of seeds; these are fixed. The draft's own pairs would be found out."""
    settings = DecodeSettings(3, 2, temperature=1.0, stop_at_eos=False, verification=verification, **more)
    (pairs,) = in_node(draws=[(request(SHORT, "wren-nano", settings), DRAWS)])["pairs"]
    assert len(pairs) == DRAWS
    assert chance(pairs, exact_pairs(target, settings)) > FALSE_ALARM > chance(pairs, exact_pairs(nano, settings))
