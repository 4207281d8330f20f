"""The bench file that "Your server" shows: one that a visitor opened, or a recorded one. No drawing."""

import logging
from dataclasses import dataclass, field

from specviz.core.errors import InputError
from specviz.core.files import MEASURED
from specviz.core.once import cache_once
from specviz.data.texts import page_texts
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import read_result

SAYS = page_texts("when_it_helps")
UPLOAD_MEGABYTES = 4  # what the server takes of any file; it holds this one for as long as the visit lasts
RECORDED_BENCHES = {  # by their names in the program
    "vLLM, recorded": "bench_vllm.json",
    "llama.cpp, recorded": "bench_llama.json",
    "llama.cpp with SmolLM2, recorded": "bench_llama_ngram.json",
}


@dataclass(slots=True)
class YourServer:
    opened: tuple[str, BenchFindings] | None = None  # the file's name and what it says
    cleared: tuple[str, BenchFindings] | None = None  # what Clear took away
    shown: str = ""  # a recorded one's name; empty: the opened file, else the first recorded one
    problems: list[str] = field(default_factory=list)

    def open(self, content: bytes, name: str) -> None:
        """Show a bench file, or raise an InputError and change nothing."""
        if len(content) > UPLOAD_MEGABYTES * 10**6:
            raise InputError(SAYS["bench_too_large"].format(most=UPLOAD_MEGABYTES))
        self.opened, self.cleared, self.shown = (name, BenchFindings(read_result(content))), None, ""

    def clear(self) -> None:
        self.opened, self.cleared, self.shown = None, self.opened, ""

    def undo_clear(self) -> None:
        self.opened, self.cleared, self.shown = self.cleared, None, ""

    def benches(self) -> dict[str, BenchFindings]:
        """Those to choose from by name, the opened one first."""
        own = {self.opened[0]: self.opened[1]} if self.opened else {}
        return own | {name: found for name, found in recorded_benches().items() if name not in own}


@cache_once
def recorded_benches() -> dict[str, BenchFindings]:
    """The benches recorded for everyone; those whose files are missing or damaged are left out."""
    found = {}
    for name, file in RECORDED_BENCHES.items():
        try:
            found[name] = BenchFindings(read_result((MEASURED / file).read_bytes()))
        except (InputError, OSError) as error:
            logging.getLogger(__name__).info("No recorded bench: %s", error)
    return found
