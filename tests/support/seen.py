"""What a visitor sees on a page in AppTest, as lines for a snapshot: each element, its figures, what it is set to."""

import re
from difflib import SequenceMatcher
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.hostile import PAPER
from tests.support.payloads import payload_of

TAGS = re.compile(r"\s*(?:<[^<>]+>\s*)+")
HIDDEN = ("root", "main", "sidebar", "event", "flex_container", "column", "form", "tab_container", "tab", "fragment")
SENTENCE = 60  # characters that tell which one it is; one with a figure is shown whole
POINTS = 12  # of a line in a figure
# Of a payload: other at each visit, with each version of the program, or of no reader.
CHANCE = ("stream", "version", "part", "key", "focus", "file", "bytes", "weights")
AGAIN = re.compile(r"-\d+(?=-run$|$)")  # of a key: how often the component was begun again
Act = str | tuple[str, Any]  # a key to click; a key and what its widget is set to


def seen(page: AppTest) -> list[str]:
    return [line for node in page._tree if node.type not in HIDDEN for line in _lines(node)]


def whole(page: AppTest) -> str:
    return "\n".join(seen(page))


def walk(page: AppTest, *acts: Act) -> str:
    """What each step of a visitor changes; what is set before a click goes with it, as in a form."""
    before, said = seen(page), list[str]()
    for place, act in enumerate(acts, start=1):
        key, value = (act, None) if isinstance(act, str) else act
        element: Any = page.get_by_key(key)
        changed = element.click() if isinstance(act, str) else element.set_value(value)
        said.append(f"# {key}" if isinstance(act, str) else f"# {key}: {value}")
        if isinstance(act, str) or place == len(acts):
            changed.run()
            said.append(step(before, page))
    return "\n".join(said)


def step(before: list[str], page: AppTest) -> str:
    """What is new since then, and what is gone with nothing in its place; then `before` is the page of now."""
    after, lines = seen(page), list[str]()
    for tag, start, end, new, newer in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += [f"- {line[:SENTENCE]}" for line in before[start:end] if tag == "delete"]
            lines += [f"+ {line}" for line in after[new:newer]]
    before[:] = after
    return "\n".join(lines)


def _lines(node: Any) -> list[str]:
    proto = getattr(node, "proto", None)
    fields = {field.name: value for field, value in proto.ListFields()} if proto is not None else {}
    if node.type == "bidi_component":
        return _component(AGAIN.sub("", _key(fields)), payload_of(node)) if "bytes" in fields else []
    if node.type in ("dataframe", "table"):
        frame = node.value
        rows = [" | ".join(map(_cell, row)) for row in [frame.columns, *frame.itertuples(index=False)]]
        return [f"{node.type}: {row}" for row in rows[:POINTS]]
    body = fields.get("body") or fields.get("text", "")
    if body.startswith(("<style", PAPER)):
        return []
    parts = [node.type, _key(fields), "disabled" if fields.get("disabled") else "", short_text(body)]
    if "label" in fields:
        parts.append(f'"{short_text(fields["label"])}"')
    if fields.get("id") and node.type not in ("button", "expander", "popover"):
        value = getattr(node, "value", "")
        parts.append(f"= {short_text(str(getattr(value, 'name', value)))}")
    if node.type in ("radio", "button_group"):
        parts.append(f"of {' / '.join(getattr(option, 'content', option) for option in fields['options'])}")
    return [" ".join(part for part in parts if part)]


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _component(key: str, payload: Any) -> list[str]:
    """A line for each part of what it is sent; of a run the stage's own tests say what is drawn."""
    if key.startswith("kept-") and key != "kept-answers":  # a secret, or signed with one
        return [f"{key}: {bool(payload and payload['text'])}"]
    if not payload or "run" in payload:
        return [f"{key}: {short(payload['run']['trace'])}"] if payload else []
    return [f"{key}.{name}: {value}" for name, value in short(payload).items() if value not in (None, "", [], {})]


def _key(fields: dict[str, Any]) -> str:
    return re.sub(r"^\$\$(ID|GENERATED)-[0-9a-f]+-", "", str(fields.get("id", ""))).replace("None", "")


def short_text(text: str) -> str:
    text = TAGS.sub(" ", text).strip().replace("\n", "⏎")
    return text if len(text) <= SENTENCE or re.search(r"\d", text) else f"{text[:SENTENCE]}…"


def short(value: Any) -> Any:
    """A payload: figures as a reader sees them, few points of each line, and no looks."""
    if isinstance(value, dict) and {"figure", "alt"} <= value.keys():
        return {"alt": short_text(value["alt"]), **_drawn(**value["figure"])}
    if isinstance(value, dict) and "rounds" in value and "settings" in value:
        return f"{value['prompt']['tokens'][:3]}, {len(value['rounds'])} rounds"
    if isinstance(value, dict):
        return {name: short(inner) for name, inner in value.items() if name not in CHANCE}
    if isinstance(value, list):
        return [short(inner) for inner in value[:POINTS]]
    if isinstance(value, float):
        return float(f"{value:.3g}")
    return short_text(value) if isinstance(value, str) else value


def _drawn(data: list[Any], layout: dict[str, Any]) -> dict[str, Any]:
    lines = {str(line.get("name", at)): _points(line) for at, line in enumerate(data)}
    axes = {name: short([*map(layout[name].get, ("title", "ticktext", "tickformat"))]) for name in ("xaxis", "yaxis")}
    return {**lines, **axes, "notes": [note["text"] for note in layout.get("annotations", [])]}


def _points(line: dict[str, Any]) -> list[Any]:
    """With the ends of their intervals."""
    ends = [line[name][side] for name in ("error_x", "error_y") if name in line for side in ("array", "arrayminus")]
    return [short(line.get("x")), short(line.get("y")), *map(short, ends)]
