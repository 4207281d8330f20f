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
TO_64 = re.compile("[1-9]|[1-5][0-9]|6[0-4]").fullmatch
WORD = "(bundled|smollm2|catalogue|hub|folders|any)"
SITE = r"(https?://)?[A-Za-z0-9*.\-]+(:[0-9]{1,5})?"


class OperatorSetting(NamedTuple):
    fits: Callable[[str], object]
    rule: str  # what it must be
    default: str = ""


def _match(pattern: str, rule: str, default: str = "") -> OperatorSetting:
    return OperatorSetting(re.compile(pattern).fullmatch, rule, default)


def _one_of(default: str, *others: str) -> OperatorSetting:
    return OperatorSetting((default, *others).__contains__, f"{default} or {' or '.join(others)}", default)


def _number(least: int, of: str, default: str = "") -> OperatorSetting:
    rule = f"a whole number of {of} from {least} to 999999999"
    return OperatorSetting(lambda text: re.fullmatch("[0-9]{1,9}", text) and int(text) >= least, rule, default)


def _is_number_or_url(text: str) -> object:
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return False
    return TO_64(text) or (known and not (parts.username or parts.query or parts.fragment))


OPERATOR_SETTINGS = {
    "SPECVIZ_MODELS": _match(
        f"{WORD}( *, *{WORD})*",
        "bundled, smollm2, catalogue, hub, folders or any, or several of these with commas between them",
        "catalogue",
    ),
    "SPECVIZ_GGUF": _match(".*", "a folder"),
    "SPECVIZ_CACHE_GB": _number(0, "gigabytes", "20"),
    "SPECVIZ_MODEL_MB": _number(1, "megabytes"),
    "SPECVIZ_ENGINES": OperatorSetting(
        _is_number_or_url, "a whole number from 1 to 64, or the URL of engines such as https://HOST:8000", "1"
    ),
    "SPECVIZ_ENGINES_TOKEN": _match(
        "[!-~]{16,}",
        "the same text, of at least 16 letters and digits, here and at the engines: openssl rand -hex 32 makes one",
    ),
    "SPECVIZ_STREAMS": OperatorSetting(TO_64, "a whole number from 1 to 64", "2"),
    "SPECVIZ_JOB_SECONDS": _number(1, "seconds"),
    "SPECVIZ_RUNS": _match(
        r"memory|[^\n]*[/\\][^\n]*", "memory, the path of a folder with a / in it, such as ./runs, or a URL"
    ),
    "SPECVIZ_PACKED": _one_of("1", "0"),
    "SPECVIZ_FORWARD": _one_of("light", "transformers"),
    "SPECVIZ_DEVICE": _one_of("auto", "cpu", "cuda", "mps"),
    "SPECVIZ_LANG": OperatorSetting(
        lambda text: find_language([text]), "the code of a language here: en, or a folder of assets/texts, such as es"
    ),
    "SPECVIZ_LESSONS": OperatorSetting(lambda text: Path(text).is_dir(), "a folder that is there"),
    "SPECVIZ_FRAMES": _match(
        rf"\s*{SITE}(\s+{SITE})*\s*", "a list of sites with spaces between, such as https://moodle.example.org, or none"
    ),
    "SPECVIZ_METRICS": _one_of("0", "1"),
}


def operator_setting(name: str, *, needed: bool = False) -> str:
    """What is set, else the default; InputError: it cannot be used, or there is none and one is needed.

    The sentence does not repeat what is set: under app.py visitors read it, and it may be a secret.
    """
    setting, text = OPERATOR_SETTINGS[name], os.environ.get(name, "")
    if (text or needed) and not setting.fits(text):
        raise InputError(f"{name} must be {setting.rule}.")
    return text or setting.default


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
