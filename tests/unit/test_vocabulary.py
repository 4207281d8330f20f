"""One word for one thing in everything that people read: the texts, the words in the code, the documents.

The table in "Language" of CONTRIBUTING.md has the same words.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
import yaml

from tests.support.html import Html
from tests.unit.test_structure import READ, ROOT, tree_of

ASSETS = ROOT / "assets"
READ_ALOUD = ("title", "aria-label", "placeholder", "alt")  # attributes of HTML that people read
JS_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
JS_COMMENT = re.compile(r"/\*.*?\*/|(?<=\s)//[^\n]*|^//[^\n]*", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"\{[^{}]*\}|`[^`\n]*`|\[[^\]]*\]\(|\]\([^)\s]*\)|https?://\S+|<!--.*?-->", re.DOTALL)
DOCUMENTS = ("bench", "measurements", "operating", "settings", "teaching", "traces")  # the others are about the code
OF_OTHERS = (
    "specviz/systems/",
    "assets/texts/sentences/counters.yaml",
    "assets/texts/sentences/records.yaml",
)  # their own counts: “drafted tokens”


@dataclass(frozen=True)
class Avoided:
    pattern: str
    say: str
    found: str  # a text that has it
    allowed: str = r"(?!)"  # where it may stand: names of the field, or what explains the word that is said instead


TECHNICAL = (
    Avoided(r"\b(big|bigger|main|large) model\b", "target", "passes of the big model",
            r"[Tt]arget[^.]*a big model|[Tt]arget \(its main model\)|a large model\b"),
    Avoided(r"\b[Pp]ropos(e|es|ed|al|als|ing)\b", "guess", "the draft proposes a token", r"proposed for SGLang"),
    Avoided(r"\b[Dd]rafted tokens?\b", "guess", "all drafted tokens", r"Counts call it a drafted token"),
    Avoided(r"\b[Dd]rafters?\b", "draft", "each drafter’s guesses", r"without a drafter|tuple\[.*\]"),
    Avoided(r"\b[Cc]hecked guess", "judged guess: the check reads discarded ones too", "of the checked guesses"),
    Avoided(r"\b[Vv]erif(y|ies|ied|ication|ications)\b", "check", "all are verified at once",
            r"[Bb]lock verification|\s*Verification( token by token|\s*$)|verification (token by token|must be)"),
    Avoided(r"\b[Cc]alls?\b", "pass", "calls of the target",
            r"([Tt]okens\s+per\s+target|per target) call|close (to it )?to call|also says call|#calls"
            r"|[Cc]alls? (its?|generate|the column)"),
    Avoided(r"\b[Tt]okens\s+((a|per|each|in each)\s+(round|pass|call|target\s+(round|pass))|a\s+target\s+call)\b",
            "tokens per target call", "3.20 tokens a round",
            r"drafted tokens (a|per) round|drafts … tokens in each round|^tokens a round$"),
    Avoided(r"cannot (be told|tell)|[Nn]ot told apart|too close to 1", "too close to call", "it cannot be told",
            r"^cannot be told$"),  # a word of the bench file
    Avoided(r"(?<![\w.,\\])\.\d+\b", "14 %", "a chance of .14"),
)  # fmt: skip
PLAIN = (
    Avoided(r"\b(models?|targets?|tokens?|drafts?|drafted|pass|passes|calls?)\b", "editor, intern, word, look",
            "a token", r"intern drafts, an editor"),
    Avoided(r"\b(guess|guesses|guessed|guessing)\b", "suggestion", "each guess costs time",
            r"(easy one|hard|harder) to guess"),
    Avoided(r"\b([Pp]ropos|[Vv]erif)", "suggest, check", "it proposes a word"),
)  # fmt: skip


def hits(avoided: Avoided, text: str) -> list[str]:
    """The places of a text that have the word to avoid and are not allowed to, each with what stands around it."""
    said = NAMED.sub("…", text)
    free = [match.span() for match in re.finditer(avoided.allowed, said, re.MULTILINE)]
    found = (match.span() for match in re.finditer(avoided.pattern, said))
    loose = [place for place in found if not any(start <= place[0] and place[1] <= end for start, end in free)]
    return [said[max(0, start - 40) : end + 40] for start, end in loose]


def in_yaml(node: yaml.Node, voice: str = "") -> Iterator[tuple[str, int, str]]:
    """Each text below a node: its voice, if it has one, its line and the text. Keys are names, not texts."""
    if isinstance(node, yaml.ScalarNode):
        yield voice, node.start_mark.line + 1, node.value
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from in_yaml(each, voice)
    elif isinstance(node, yaml.MappingNode):
        both = {key.value.replace("technical", "plain") for key, _ in node.value if "technical" in key.value}
        for key, value in node.value:
            if key.value not in NAMES:
                named = re.search("(?:^|_)(technical|plain)$", key.value)  # also at the end of a name: looks_plain
                alone = key.value.endswith("plain") and key.value not in both  # “plain”: the label of a plain pass
                yield from in_yaml(value, named[1] if named and not alone else voice)


# keys whose values are no texts for readers
NAMES = {"name", "also", "kind", "module", "until", "phase", "asks_at", "regex", "text_id", "prompts", "more_prompts",
         "metavar", "link", "paste"}  # fmt: skip


def in_python(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Sentences and labels; no docstrings, and no names."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        said = node.value if isinstance(node, ast.Constant) and id(node) not in alone else None
        if isinstance(said, str) and (" " in said or said.istitle()):
            yield node.lineno, said


def in_javascript(text: str) -> Iterator[tuple[int, str]]:
    bare = JS_COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in JS_TEXT.finditer(bare):
        said = re.sub(r"\$\{[^{}]*\}", "…", match[1] or match[2] or "")
        if " " in said.strip() and said[0] not in ".#":  # else a selector
            yield bare.count("\n", 0, match.start()) + 1, said


@cache
def read_texts() -> list[tuple[str, str, str]]:
    """Everything that people read: where it stands, its voice, and the text."""
    found = []
    for file in sorted([*ASSETS.rglob("*.yaml"), *ASSETS.glob("texts/browser/*.json")]):
        place, node = file.relative_to(ROOT).as_posix(), yaml.compose(file.read_text(encoding="utf-8"))
        found += [(f"{place}:{line}", voice, text) for voice, line, text in in_yaml(node)]
    for file in sorted((ASSETS / "texts/browser").glob("*.json")):
        table = json.loads(file.read_text(encoding="utf-8"))
        found += [(f"{file.name}: {name}", "plain" if "_plain" in name else "", text) for name, text in table.items()]
    for file in READ:
        place = file.relative_to(ROOT).as_posix()
        found += [(f"{place}:{line}", "", text) for line, text in in_python(tree_of(file))]
    for file in sorted(ASSETS.glob("browser/*/*.ts*")):
        place, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        found += [(f"{place}:{line}", "", said) for line, said in in_javascript(text)]
    for file in sorted(ASSETS.rglob("*.html")):
        html, place = Html(file.read_text(encoding="utf-8")), file.relative_to(ROOT).as_posix()
        attributes = [value for name in READ_ALOUD for value in html.values_of(name) if value]
        found += [(place, "", said) for said in (html.text, *attributes)]
    for file in (ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in DOCUMENTS)):
        text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        found += [(file.name, "", paragraph) for paragraph in text.split("\n\n")]
    return found


@pytest.mark.parametrize("avoided", [*TECHNICAL, *PLAIN], ids=lambda avoided: avoided.say)
def test_a_word_to_avoid_is_found_where_it_stands(avoided: Avoided) -> None:
    assert hits(avoided, f"Here: {avoided.found} today.")


@pytest.mark.parametrize(
    ("avoided", "plain"),
    [(each, each in PLAIN) for each in (*TECHNICAL, *PLAIN)],
    ids=lambda given: getattr(given, "say", ""),
)
def test_one_thing_has_one_name_in_each_voice(avoided: Avoided, plain: bool) -> None:
    places = [(place, text) for place, voice, text in read_texts() if (voice == "plain") == plain]
    assert len(places) > 200
    theirs = OF_OTHERS if "drafted token" in avoided.found else ()
    found = [f"{place}: {hit}" for place, text in places if not place.startswith(theirs) for hit in hits(avoided, text)]
    assert not found, f"say {avoided.say}:\n" + "\n".join(found)
