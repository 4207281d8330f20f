"""Which commands ask for the same thing: visitors who do share one job, while it runs and after it."""

import json
from dataclasses import asdict

from specviz.core.request import PROMPT_LOOKUP
from specviz.core.trace import SCHEMA
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, head_names, weights_hash
from specviz.service.protocol import Calibrate, JobCommand, Run

FORMAT = 1  # of what is stored; a new one forgets what older versions stored


def sharing_key(command: JobCommand) -> str | None:
    """The same text for commands that ask for the same; None for a command whose result belongs to one visitor.

    A run's key holds its settings, its prompt, the weights of its models and the format in which it is stored.
    """
    if isinstance(command, Run):
        asked: dict[str, object] = asdict(command.request)
    elif isinstance(command, Calibrate):
        request = command.request
        asked = {"target": request.target, "draft": request.draft, "precision": request.precision}
    else:
        return None
    weights = {name: _weights(name) for name in sorted(command.models - {PROMPT_LOOKUP})}
    return json.dumps([command.type, asked, weights, SCHEMA, FORMAT], sort_keys=True)


def _weights(name: str) -> str:
    """A model that does not ship with the app is known by its name: what is loaded under it, the engine decides."""
    return weights_hash(MODELS_FOLDER / name) if name in (*bundled_names(), *head_names()) else name
