"""Runs of other systems as traces: vLLM, SGLang, llama.cpp, transformers and LM Studio. One file reads one system."""

from specviz.data.importers.assembling import Given
from specviz.data.importers.reading import SYSTEMS, import_run, open_run, system_of

__all__ = ["SYSTEMS", "Given", "import_run", "open_run", "system_of"]
