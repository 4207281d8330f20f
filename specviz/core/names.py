"""How models are named on screen: a folder by its last part, and a pair as draft → target."""

import re

from specviz.core.conversation import read_messages
from specviz.core.languages import ENGLISH, current_language
from specviz.core.numbers import localize
from specviz.core.texts import Sentences
from specviz.core.trace import Trace

say = Sentences("names")

FOLDERS = ("/", "~", "./", "../")  # how the name of a folder begins; the id of a model on the Hub begins otherwise


def short_name(name: str) -> str:
    """The name; of a folder or a file only the last part, because a reader elsewhere has other folders."""
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or name if is_path(name) else name


def first_words(text: str, characters: int) -> str:
    line = " ".join(text.split())
    return f"{line[:characters]}{'…' if len(line) > characters else ''}"


def prompt_words(trace: Trace, characters: int) -> str:
    """How a run is named by its prompt: the first words, and of a chat those of the user's last message."""
    text = trace.prompt.text
    if trace.settings.prompt_format == "chat":
        text = next((said for role, said in reversed(read_messages(text)) if role == "user"), text)
    return first_words(text, characters)


def is_path(name: str) -> bool:
    """Whether it names a folder or a file by its form, whether or not there is one."""
    path = name.replace("\\", "/")
    return path.startswith(FOLDERS) or path[1:3] == ":/"


def pair_name(trace: Trace) -> str:
    draft = trace.drafter.asked_as if trace.drafter else say("no_draft")
    return f"{short_name(draft)} → {short_name(trace.target.name)}"


def show_size(count: int) -> str:
    return f"{localize(count / 1e9, '.1f')} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"


MOST_MACHINE = 40  # characters: a file can name any machine


def machine_in_words(machine: str) -> str:
    """In a sentence: "an Intel Xeon" for "Intel(R) Xeon(R) Processor, 2 cores, Linux"."""
    name = first_words(re.sub(r"^[Aa]n? |\((R|TM)\)|\b(CPU|Processor)\b", "", machine.partition(",")[0]), MOST_MACHINE)
    if name and current_language() != ENGLISH:
        return name
    return f"{'an' if name[:1].upper() in set('AEIOU') else 'a'} {name}" if name else say("unnamed_machine")


def spell_place(index: int) -> str:
    """Of index 0: "first"; in another language than English, "1"."""
    return ORDINALS[index] if current_language() == ENGLISH else str(index + 1)


ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
ORDINALS += ["ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"]
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}  # 17th, 21st, 22nd
ORDINALS += [
    f"{number}{_ENDINGS.get(number % 10, 'th')}" for number in range(17, 65)
]  # a round of another system may draft 64 tokens


def forward_in_words(trace: Trace) -> str:
    """The end of a sentence that says what was measured; empty where the trace does not report it.

    The program of both models, and the GPU. A draft without weights is computed by the processor: that is not said.
    """
    passes, drafter = {"light": say("own_pass"), "transformers": say("library_pass")}, trace.drafter
    program, processor = passes.get(trace.target.forward or ""), say("processor")
    draft = passes.get(drafter.forward or "") if drafter else None
    said = [say("with_one", target=program)] if program else []
    if program and draft and draft != program:
        said = [say("with_two", target=program, drafter=draft)]
    target = trace.target.device
    device = drafter.device if drafter and drafter.parameters else target
    if target != device:
        said.append(say("on_two", target=target or processor, drafter=device or processor))
    elif target:
        said.append(say("on_one", target=target))
    return ", ".join(said)
