"""Which program computed a run's forward passes, in words."""

from specviz.core.trace import Trace

WORDS = {"light": "specviz's own forward pass", "transformers": "transformers' forward pass"}


def forward_in_words(trace: Trace) -> str:
    """The end of a sentence that says what was measured; empty where the trace does not report it."""
    target = WORDS.get(trace.target.forward or "")
    draft = WORDS.get(trace.drafter.forward or "") if trace.drafter else None
    if target is None:
        return ""
    if draft is None or draft == target:
        return f"with {target}"
    return f"the target with {target}, the draft with {draft}"
