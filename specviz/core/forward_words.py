"""Which program computed a run's forward passes, and on which GPU, in words."""

from specviz.core.trace import Trace

WORDS = {"light": "specviz's own forward pass", "transformers": "transformers' forward pass"}
PROCESSOR = "the processor"


def forward_in_words(trace: Trace) -> str:
    """The end of a sentence that says what was measured; empty where the trace does not report it."""
    return ", ".join(filter(None, (_program(trace), _device(trace))))


def _program(trace: Trace) -> str:
    target = WORDS.get(trace.target.forward or "")
    draft = WORDS.get(trace.drafter.forward or "") if trace.drafter else None
    if target is None:
        return ""
    if draft is None or draft == target:
        return f"with {target}"
    return f"the target with {target}, the draft with {draft}"


def _device(trace: Trace) -> str:
    """The GPU, and who used it; empty without one. A draft without weights is computed by the processor: not said."""
    target, drafter = trace.target.device, trace.drafter
    draft = drafter.device if drafter and drafter.parameters else target
    if target == draft:
        return f"on {target}" if target else ""
    return f"the target on {target or PROCESSOR}, the draft on {draft or PROCESSOR}"
