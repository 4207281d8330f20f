"""What whoever runs the app sets, as environment variables: each with what it must be. docs/operating.md explains them.

They are read here and nowhere else. One that cannot be used is refused, never ignored: a limit that was mistyped would
be no limit. An empty one counts as not set.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from specviz.core.errors import InputError
from specviz.core.languages import find_language

PREFIX = "SPECVIZ_"
# Kubernetes sets these itself where a service is named specviz or specviz-….
OF_A_CLUSTER = re.compile(r"_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)")
TO_64 = "[1-9]|[1-5][0-9]|6[0-4]"
WORD = "(bundled|smollm2|catalogue|hub|folders|any)"
SITE = r"(https?://)?[A-Za-z0-9*.\-]+(:[0-9]{1,5})?"


class OperatorSetting(NamedTuple):
    fits: str | Callable[[str], object]  # an expression for all of it, or what says so
    default: str = ""
    rule: str = ""  # what it must be


def _is_number_or_url(text: str) -> object:
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return False
    return re.fullmatch(TO_64, text) or (known and not (parts.username or parts.query or parts.fragment))


OPERATOR_SETTINGS = {
    "SPECVIZ_MODELS": OperatorSetting(
        f"{WORD}( *, *{WORD})*",
        "catalogue",
        "bundled, smollm2, catalogue, hub, folders or any, or several of these with commas between them",
    ),
    "SPECVIZ_GGUF": OperatorSetting(".*"),
    "SPECVIZ_CACHE_GB": OperatorSetting("[0-9]{1,9}", "20", "a whole number of gigabytes"),
    "SPECVIZ_MODEL_MB": OperatorSetting("[1-9][0-9]{0,8}", "", "a whole number of megabytes, at least 1"),
    "SPECVIZ_ENGINES": OperatorSetting(
        _is_number_or_url, "1", "a whole number from 1 to 64, or the URL of engines such as https://HOST:8000"
    ),
    "SPECVIZ_ENGINES_TOKEN": OperatorSetting(
        "[!-~]{16,}",
        "",
        "the same text, of at least 16 letters and digits, here and at the engines: openssl rand -hex 32 makes one",
    ),
    "SPECVIZ_STREAMS": OperatorSetting(TO_64, "2", "a whole number from 1 to 64"),
    "SPECVIZ_JOB_SECONDS": OperatorSetting("[1-9][0-9]{0,8}", "", "a whole number of seconds, at least 1"),
    "SPECVIZ_RUNS": OperatorSetting(
        r"memory|.*[/\\].*", "", "memory, the path of a folder with a / in it, such as ./runs, or a URL"
    ),
    "SPECVIZ_PACKED": OperatorSetting("0|1", "1", "0 or 1"),
    "SPECVIZ_FORWARD": OperatorSetting("light|transformers", "light", "light or transformers"),
    "SPECVIZ_DEVICE": OperatorSetting("auto|cpu|cuda|mps", "auto", "auto, cpu, cuda or mps"),
    "SPECVIZ_LANG": OperatorSetting(
        lambda code: find_language([code]), "", "the code of a language here, such as en or es"
    ),
    "SPECVIZ_LESSONS": OperatorSetting(lambda folder: Path(folder).is_dir(), "", "a folder that is there"),
    "SPECVIZ_FRAMES": OperatorSetting(
        rf"\s*{SITE}(\s+{SITE})*\s*", "", "sites with spaces between, such as https://moodle.example.org, or none"
    ),
    "SPECVIZ_METRICS": OperatorSetting("0|1", "0", "0 or 1"),
}


def operator_setting(name: str, *, needed: bool = False) -> str:
    """What is set, else the default; InputError: it cannot be used, or there is none and one is needed.

    The sentence does not repeat what is set: under app.py visitors read it, and it may be a secret.
    """
    (fits, default, rule), text = OPERATOR_SETTINGS[name], os.environ.get(name, "")
    if (text or needed) and not (re.fullmatch(fits, text) if isinstance(fits, str) else fits(text)):
        raise InputError(f"{name} must be {rule}.")
    return text or default


def check_operator_settings() -> None:
    """InputError: one cannot be used, or a variable that begins like one is none, which may be a mistyped one."""
    for name in sorted(os.environ):
        if name in OPERATOR_SETTINGS:
            operator_setting(name)
        elif name.startswith(PREFIX) and not OF_A_CLUSTER.search(name):
            raise InputError(f"There is no setting {name}. The settings are {', '.join(OPERATOR_SETTINGS)}.")


def given_settings() -> dict[str, str]:
    """Those that are set, for processes on other machines."""
    return {name: text for name, text in os.environ.items() if name in OPERATOR_SETTINGS}
