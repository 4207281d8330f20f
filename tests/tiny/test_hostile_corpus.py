"""Hostile files get their sentence, in little memory; hostile text is shown as it is."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
import yaml
from rich.markdown import Markdown

from specviz.core.errors import InputError
from specviz.core.trace import UPLOAD, parse_trace
from specviz.figures.parts import figure_text
from specviz.game.saved import load_game
from specviz.measure.sweep.prompt_files import read_prompts
from specviz.measure.sweep.rows import read_frame
from specviz.systems import SYSTEMS, RecordOptions, import_run, open_run, read_counters
from specviz.ui.shared.escaping import file_label, plain
from tests.load.hostile import MADE, STORED, made
from tests.support.grids import grid
from tests.support.hostile import ALL_NAMES, NAME, NAMES
from tests.support.records import FakeTokenizer
from tests.support.strategies import assert_one_sentence, refusal_and_peak, value_or_sentence

Reader = Callable[[bytes], object]
KNOWN = RecordOptions(tokenizer=FakeTokenizer())
READERS: dict[str, Reader] = {
    "trace": lambda content: parse_trace(content, UPLOAD),
    "sweep": lambda content: read_frame(content, "It"),
    "prompts": read_prompts,
    "counters": lambda content: read_counters(content.decode(errors="replace")),
    "game": lambda content: load_game(content.decode(errors="replace")),
    "record": lambda content: open_run(content, KNOWN if b"candidate_ids" in content else None),
}
GIVEN = {"transformers": KNOWN}
IMPORTS = [partial(import_run, system=system, given=GIVEN.get(system)) for system in SYSTEMS]
SAID = yaml.safe_load((Path(__file__).parents[1] / "fixtures/hostile.yaml").read_text(encoding="utf-8"))


def test_a_hostile_file_gets_its_sentence() -> None:
    assert {file.name for file in STORED} == SAID.keys()
    for file in STORED:
        content, sentence = file.read_bytes(), SAID[file.name]  # none: it is only strange, and is read
        with pytest.raises(InputError) if sentence else nullcontext() as refused:
            READERS[file.name.split("-")[0]](content)
        assert (refused and str(refused.value)) == sentence, file.name
        for read in [*READERS.values(), *IMPORTS]:
            value_or_sentence(partial(read, content))


RECORDS = {f"record-{system}.json" for system in SYSTEMS}  # of valid steps: their door has a budget of its own
LARGE = [name for name in MADE if name.split("-")[0] in READERS and name not in RECORDS]
QUICK = {"trace-fields.json", "sweep-lines.csv", "prompts-nested.jsonl", "counters-brackets.txt", "record-lists.json"}
QUICK |= {"game-turns.json"}


@pytest.mark.parametrize("name", grid(LARGE, QUICK))
def test_a_large_hostile_file_takes_less_than_10_times_its_size(name: str) -> None:
    content = made(name)
    said, peak = refusal_and_peak(lambda: READERS[name.split("-")[0]](content))
    assert_one_sentence(said)
    assert peak < 10 * len(content), f"{peak / len(content):.1f} times"


TEXTS = [
    *NAMES,
    NAME,
    "**b** __c__ _d_ ~~e~~ `f` ![g][h]",
    "<b>bold</b> <!-- x --> <https://evil.test> &lt; &#60;",
    "back\\slash \\* \\",
    *("# head", "> quote", "- list", "+ list", "= line", "1. list", "23) list", "    code", "\tcode", "```fence```"),
    *("two\n\n# lines", "| a | b |\n|---|---|", "head\n===", "org/model_name-7B (float32), 12:30, 100 %"),
    *("a $1 and $2 price", ""),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_shown_as_it_is_and_begins_no_block(text: str) -> None:
    for before, shown in (("Loaded ", f"Loaded {text.strip()}"), ("", text.strip())):
        blocks = Markdown(f"{before}{plain(text)}").parsed
        inline = [token for block in blocks for token in block.children or []]
        assert {block.type for block in blocks} <= {"paragraph_open", "inline", "paragraph_close"}
        assert {token.type for token in inline} <= {"text", "text_special"}
        found = "".join(token.content for token in inline).replace("\u2060", "")
        assert found.rstrip() == shown.replace("\n", "↵").rstrip()


def test_names_and_figures_show_text_as_it_is() -> None:
    """A directive, an emoji, an icon or a bare address needs its colon, www or @ before the next character."""
    shown = plain(f"{NAME} someone@evil.test").replace("\\", "")
    marks = (":red[", ":smile", ":material/", "http:/", "javascript:a", "www.", "someone@evil.test")
    assert [mark for mark in marks if mark in shown] == [], "Streamlit would read it after the Markdown"
    assert plain(plain(NAME)) == plain(NAME)
    for name in ("wren-base", "Qwen/Qwen2.5-0.5B", "AMD EPYC (2 cores), 4 GB", "The link’s gamma is 99: using 4."):
        assert plain(name) == name
    assert figure_text("<b>&lt;%{x}") == "&lt;b&gt;&amp;lt;%\u2060{x}"
    assert [*map(file_label, ("my sweep.csv", "a\nb\u202e.csv"))] == ["my sweep.csv", "a?b?.csv"]
    assert len(file_label("x" * 10_000)) == 60
    for name in ALL_NAMES:  # no text turns the sentence around it
        assert "\u202e" not in plain(f"a {name}") + figure_text(name) + file_label(name)
