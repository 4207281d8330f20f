"""The proof that is shown before any model is loaded, made by `python -m scripts.record_proof`."""

import logging
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter, ValidationError

from specviz.core.files import ASSETS
from specviz.core.request import RunRequest
from specviz.measure.proof.rows import DrawBatch, GreedyRow
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, weights_hash

PATH = ASSETS / "traces" / "proof.json"


@dataclass(frozen=True, slots=True)
class RecordedDraws:
    rule: RuleName
    position: Position
    batches: list[DrawBatch]


@dataclass(frozen=True, slots=True)
class RecordedProof:
    created: str
    machine: str
    weights: dict[str, str]  # hash by model name
    request: RunRequest
    draws: list[RecordedDraws]
    greedy: list[GreedyRow]
    near_tie: GreedyRow  # in bfloat16
    forgotten_row: GreedyRow | None = None  # with a cache that forgets a row; None in older files

    @property
    def changed_weights(self) -> list[str]:
        known = {name for name in self.weights if name in bundled_names()}
        return sorted(name for name in known if weights_hash(MODELS_FOLDER / name) != self.weights[name])


_PROOF: TypeAdapter[RecordedProof] = TypeAdapter(RecordedProof)


def dump_proof(proof: RecordedProof) -> bytes:
    return _PROOF.dump_json(proof, indent=1) + b"\n"


@cache
def recorded_proof() -> RecordedProof | None:
    try:
        return _PROOF.validate_json(PATH.read_bytes())
    except (OSError, ValidationError) as error:
        logging.getLogger(__name__).error("No recorded proof: %s", error)
        return None
