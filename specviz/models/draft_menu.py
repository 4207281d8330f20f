"""The drafts that a menu offers, in groups: what each group is, and who serves text with it. Never imports torch."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from specviz.core.drafters import LOOKUP_FIRST, METHODS, PROMPT_LOOKUP, menu_title, named, own_names, typed_name
from specviz.core.names import is_path, short_name, show_size
from specviz.core.numbers import localize
from specviz.core.operator_settings import operator_setting
from specviz.core.request import DEFAULT_DRAFT
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.data.texts import join_choices, page_texts
from specviz.models.catalogue import (
    HUB_MODELS,
    bundled_heads,
    bundled_names,
    find_folder,
    find_gguf,
    find_local,
    known_models,
    known_names,
    method_named,
    weight_bytes,
)
from specviz.models.gguf_folder import (
    PACKAGE_BYTES,
    SMOLLM2,
    can_fetch,
    is_missing,
    look_at,
    stored_files,
)

SAYS = page_texts("models")
DraftSource = Literal["smollm2", "catalogue", "hub", "folders"]
HUB_ID = re.compile(r"(?!.*(--|\.\.|\.git$))\b[\w.-]+\b/\b[\w.-]{1,96}\b", re.ASCII)  # as the Hub checks it
WORDS: dict[str, frozenset[DraftSource]] = {
    "bundled": frozenset(),
    "smollm2": frozenset({"smollm2"}),
    "catalogue": frozenset({"smollm2", "catalogue"}),
    "hub": frozenset({"smollm2", "catalogue", "hub"}),
    "folders": frozenset({"smollm2", "catalogue", "folders"}),
    "any": frozenset({"smollm2", "catalogue", "hub", "folders"}),
}
CHAT_NAMES = re.compile(rf"^{SMOLLM2}$|[-_.](chat|instruct|it)\b", re.IGNORECASE)


def sources() -> frozenset[DraftSource]:
    """Where models may come from, besides those that ship with the app; several words are separated by commas."""
    words = operator_setting("SPECVIZ_MODELS").split(",")
    return frozenset[DraftSource]().union(*(WORDS[word.strip()] for word in words))


def offered_names() -> list[str]:
    """The models of the menus: the bundled ones, the operator's files, then those that may be downloaded."""
    known = known_names() if "catalogue" in sources() else bundled_names()
    fetched = {SMOLLM2} if "smollm2" in sources() and can_fetch() else set()
    files = sorted({*stored_files(), *fetched})
    files = [name for name in files if name not in (*known_names(), *bundled_heads()) and not named(name)]
    return [*bundled_names(), *files, *known[len(bundled_names()) :]]


def reads_chats(name: str) -> bool:
    """Whether this target has a chat template. Sure for what is on the disk; a Hub id must say so in its name."""
    if name in bundled_names():
        return False
    try:
        if file := find_gguf(name):
            return look_at(file)[1]
        if folder := find_folder(name):  # the files that transformers writes
            config = folder / "tokenizer_config.json"
            return (folder / "chat_template.jinja").is_file() or "chat_template" in config.read_text("utf-8")
    except (OSError, ValueError):  # it is no text, or went away
        return False
    return CHAT_NAMES.search(name) is not None


def allows_typing() -> bool:
    return bool(typed_names())


def typed_names() -> list[str]:
    """What visitors can type beside the menus."""
    hub = [SAYS["a_hub_id"]] if "hub" in sources() else []
    return [*hub, SAYS["a_folder"], SAYS["a_gguf_file"]] if "folders" in sources() else hub


def is_allowed(name: str) -> bool:
    """Whether a visitor may name this model. What is on the disk counts as that, whatever its name looks like."""
    if name in offered_names():
        return True
    if find_local(name):
        return "folders" in sources()
    return "hub" in sources() and HUB_ID.fullmatch(name) is not None and name not in known_names()


def explain_refusal(name: str) -> str:
    """One sentence for a name that is not allowed: what is wrong with it, and what works here.

    Where folders are not open to visitors, it does not tell which folders there are.
    """
    said, shown = "no_model_named", repr(name[:100])
    if name == SMOLLM2 or name in known_names():
        said, shown = "operator_fetches" if name == SMOLLM2 else "not_downloaded", name
    elif is_path(name) and allows_typing() and "folders" not in sources():
        said = "no_paths"
    usable = [*bundled_names(), *[SAYS["from_catalogue"]] * ("catalogue" in sources()), *typed_names()]
    return SAYS[said].format(name=shown, usable=join_choices(usable))


@dataclass(frozen=True, slots=True)
class DraftGroup:
    title: str
    about: str  # how they guess, in one line
    names: tuple[str, ...]  # those that gain first


def draft_groups() -> list[DraftGroup]:
    names = sorted([*bundled_names(), *bundled_heads(), *(name for _, name in own_names())], key=_gain, reverse=True)
    groups = []
    for group in dict.fromkeys(method.group for method in METHODS if method.group):
        methods = [method for method in METHODS if method.group == group]
        here = [method.here for method in methods]
        title = next(each.group.title for each in here if each.group)
        about = " ".join(each.about for each in here if each.about)
        groups.append(DraftGroup(title, about, tuple(n for n in names if method_named(n) in methods)))
    return groups


def _gain(draft: str) -> float:
    """Its speedup over all prompts of the stored comparison of methods; 0 where it has none."""
    stored = stored_methods()
    found = stored.greedy.find(typed_name(draft)) if stored and stored.greedy else None
    return found.kinds[ALL].best.speedup if found and ALL in found.kinds else 0.0


def offered_drafts(target: str = "") -> list[str]:
    """The names of the menu, group by group; small models that must be downloaded come last.

    A head on a model that does not ship with the app is there only where that model is the target.
    """
    strange = {name for name, head in bundled_heads().items() if head.target not in (*bundled_names(), target)}
    names = [name for group in draft_groups() for name in group.names if name not in strange]
    return [*names, *(name for name in offered_names() if name not in names and not is_missing(name))]


def draft_for(target: str, draft: str) -> str:
    """This draft; where it does not go with this target, the one that is worth trying first.

    A head drafts for one target, and a bundled model has the tokenizer of the bundled targets only.
    """
    heads = {name: head.target for name, head in bundled_heads().items()}
    ours = target in bundled_names()
    if heads.get(draft, target) == target and (ours or draft not in bundled_names()):
        return draft
    behind_lookup = (name for name, of in heads.items() if of == target and name.startswith(LOOKUP_FIRST))
    return DEFAULT_DRAFT if ours else next(behind_lookup, PROMPT_LOOKUP)


def linked_names() -> list[str]:
    """The names that a link may hold: of models and heads. Those named by their method need no list.

    Where there is no chat model, its name gets a sentence of its own.
    """
    return [*dict.fromkeys([*offered_names(), SMOLLM2]), *bundled_heads()]


def is_offered(name: str) -> bool:
    """Whether the menus have this model or draft."""
    return method_named(name).loads != "model" or name in offered_names()


def to_download(names: Iterable[str]) -> dict[str, int]:
    """Those that a visitor may name and that are not here, with their bytes: of a Hub's model at least, 0: unknown."""
    sizes = {model.name: weight_bytes(model.parameters, "bfloat16") for model in HUB_MODELS} | {SMOLLM2: PACKAGE_BYTES}
    return {name: sizes.get(name, 0) for name in sorted(names) if is_allowed(name) and not _is_here(name)}


def _is_here(name: str) -> bool:
    if method_named(name).loads != "model" or name in bundled_names() or name == SMOLLM2 or find_local(name):
        return not is_missing(name)
    from specviz.models.hub import find_cached  # half a second, only for those who ask for a model of the Hub

    return find_cached(name) is not None


MORE_MODELS = "more"  # an entry of a short menu: it stands for all that are left out
HUB_NAMES = frozenset(model.name for model in HUB_MODELS)


def model_label(name: str) -> str:
    """A model or another draft in a menu: its short name, its size, and what it is or whether it must be downloaded."""
    if name == MORE_MODELS:
        return SAYS["more"]
    if name == SMOLLM2:
        once = SAYS["once"].format(size=show_size(PACKAGE_BYTES)) if is_missing(name) else "135 M"
        return f"SmolLM2-135M · {once} · {SAYS['chat']}"
    if named(name):
        return f"{menu_title(name)} · {SAYS['no_model']}"
    if head := bundled_heads().get(name):
        kind = SAYS["lookup_and_head" if name.startswith(LOOKUP_FIRST) else "head"]
        return f"{name.removeprefix(LOOKUP_FIRST)} · {kind} · {_millions(head.parameters)}"
    model = known_models().get(name)
    short = name.rpartition("/")[2]
    if model is None:
        if file := find_gguf(name):
            return f"{short_name(name)} · {SAYS['gguf_file']} · {show_size(file.stat().st_size)}"
        return f"{short_name(name)} · {SAYS['folder']}" if is_path(name) else name
    download = f" · {SAYS['download']}" if name in HUB_NAMES else ""
    return f"{short} · {_millions(model.parameters)}{download}"


def draft_label(name: str) -> str:
    """A draft in its menu, with its group: a model, a head, no model."""
    label = model_label(name)
    if name not in known_models() and not find_gguf(name):
        return label
    return label.replace(" · ", f" · {SAYS['model']} · ", 1)


def _millions(parameters: int) -> str:
    if parameters >= 1e9:
        return f"{localize(parameters / 1e9, '.1f')} B"
    return f"{localize(parameters / 1e6, '.0f' if parameters >= 1e7 else '.1f')} M"
