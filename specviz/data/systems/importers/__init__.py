"""Runs of other systems as traces: vLLM, SGLang, llama.cpp, transformers and LM Studio.

One file reads one system, and no file knows another system's format.
Begin with record.py, then vllm.py.
"""

import re
from collections.abc import Callable, Mapping

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.core.trace import FILE, UPLOAD, Trace, TraceLimits, check_trace, parse_trace
from specviz.data.systems.importers import llama_cpp, lm_studio, sglang, transformers, vllm
from specviz.data.systems.importers.assembling import RecordOptions, SystemReport, trace_of
from specviz.data.systems.importers.record import pieces_of

say = Sentences("records")

__all__ = ["SYSTEMS", "RecordOptions", "import_run", "open_run", "system_of"]

# What reads a record, and a field that only such a record has, by its names.
READERS: Mapping[str, tuple[Callable[..., SystemReport], tuple[str, ...]]] = {
    "vllm": (vllm.read, ("per_step_accepted",)),
    "sglang": (sglang.read, ("meta_info",)),
    "llama.cpp": (llama_cpp.read, ("draft_n_accepted",)),
    "transformers": (transformers.read, ("candidate_ids",)),
    "lmstudio": (lm_studio.read, ("containsDrafted", "contains_drafted")),
}
# A name is followed by a colon, and a text that is the same word is not. As JSON escapes quotes, no text can hold both.
MARKS = {system: re.compile(rb'"(?:%s)"\s*:' % "|".join(names).encode()) for system, (_, names) in READERS.items()}
SYSTEMS = tuple(READERS)
MOST_UPLOADED = 10**6  # bytes: a record has many values for its size, so a larger one would take much memory


def import_run(content: bytes, system: str, given: RecordOptions | None = None, limits: TraceLimits = FILE) -> Trace:
    """The run that a system's record describes, see docs/traces.md; InputError, one sentence, where it is none."""
    if system not in READERS:
        raise InputError(say("other_system", systems=", ".join(SYSTEMS), system=repr(system[:40])))
    known = given or RecordOptions()
    read, _ = READERS[system]
    return check_trace(trace_of(read(pieces_of(content), known), known, limits), limits)


def system_of(content: bytes) -> str | None:
    """The system whose record this is, by a field that no other has; None for anything else, such as a trace."""
    return next((system for system, mark in MARKS.items() if mark.search(content)), None)


def open_run(content: bytes, given: RecordOptions | None = None) -> Trace:
    """The run in a file that a visitor opens: a trace, or a record of a system, which is known by its fields."""
    system = system_of(content)
    if system is None:
        return parse_trace(content, UPLOAD)
    if len(content) > MOST_UPLOADED:
        raise InputError(say("upload_too_large", most=MOST_UPLOADED // 10**6))
    return import_run(content, system, given, UPLOAD)
