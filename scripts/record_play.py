"""Record the example turn that "Be the draft" shows first: python -m scripts.record_play [FILE]

Plays one turn, as the engine does for a visitor, and writes assets/traces/play.json:
{"schema", "prompt", "guess", "turn"}.
"""

import json
import sys
from pathlib import Path

import torch

from specviz.core.request import RunRequest
from specviz.game.game import GameRequest, dump_turn
from specviz.service.handlers import job_steps
from specviz.service.protocol import JobItem, Play
from specviz.service.workshop import Workshop

FILE = Path(__file__).resolve().parents[1] / "assets" / "traces" / "play.json"
PROMPT = "It was a hot day. Tim and his dog went to the beach. They built a big"
GUESS = "sandbox by the sea"  # its first tokens are accepted


def main() -> None:
    """Play the turn and save it."""
    torch.set_num_threads(1)  # as in the engine
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    command = Play(1, RunRequest(PROMPT), GameRequest("guess", guess=GUESS))
    events = list(job_steps(Workshop(), command))
    turn = next(event.item for event in events if isinstance(event, JobItem))
    saved = {"schema": 1, "prompt": PROMPT, "guess": GUESS, "turn": dump_turn(turn)}
    file.write_text(json.dumps(saved, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
