"""What the files for hosting promise: Streamlit Community Cloud's folder, and the Dockerfile."""

import json
import re
from pathlib import Path

import pytest

from scripts.try_dockerfile import Step, context, ignored, steps

ROOT = Path(__file__).parents[2]
CLOUD = (ROOT / "cloud/requirements.txt").read_text()
DOCKERFILE = steps((ROOT / "Dockerfile").read_text())
PYTORCH = "--find-links https://download.pytorch.org/whl/cpu/torch/"


def lines(requirements: str) -> list[str]:
    return [line for line in requirements.splitlines() if line and not line.startswith("#")]


def only(name: str) -> Step:
    [step] = [step for step in DOCKERFILE if step.name == name]
    return step


def test_the_pins_without_cuda_are_those_of_requirements_txt() -> None:
    root = lines((ROOT / "requirements.txt").read_text())
    assert lines(CLOUD) == [PYTORCH, *(f"{pin}+cpu" if pin.startswith("torch==") else pin for pin in root)]


def test_nothing_but_torch_comes_from_pytorchs_own_pages() -> None:
    """An extra index could offer any package; a page of links to one package cannot."""
    assert [line for line in lines(CLOUD) if line.startswith("-")] == [PYTORCH]


def test_the_image_has_the_packages_without_cuda() -> None:
    [install] = [step.words for step in DOCKERFILE if step.name == "RUN" and "pip install" in step.words]
    assert "--requirement cloud/requirements.txt" in install
    assert not re.search(r"index-url|nvidia|cu\d\d", CLOUD + (ROOT / "Dockerfile").read_text())


def test_the_image_runs_as_a_user_without_rights() -> None:
    names = [step.name for step in DOCKERFILE]
    user, _, group = only("USER").words.partition(":")
    assert int(user) >= 10000
    assert int(group) >= 10000
    assert {"RUN", "COPY"}.isdisjoint(names[names.index("USER") :])


def test_the_image_says_whether_it_is_healthy() -> None:
    port = only("EXPOSE").words
    assert f"http://127.0.0.1:{port}/_stcore/health" in only("HEALTHCHECK").words
    command = json.loads(only("CMD").words)
    assert command[:5] == ["python", "-m", "streamlit", "run", "serve.py"]
    assert command[command.index("--server.port") + 1] == port
    assert command[command.index("--server.address") + 1] == "0.0.0.0"


def test_the_image_gets_the_program_and_its_models_and_nothing_else() -> None:
    sent = set(context(ROOT))
    assert {"app.py", "serve.py", "cloud/requirements.txt", ".streamlit/config.toml"} <= sent
    assert {"assets/models/wren-base/model.safetensors", "assets/traces/first.json", "pages/watch.py"} <= sent
    folders = {path.split("/")[0] for path in sent if "/" in path}
    assert folders - {"benchmarks"} == {"assets", "cloud", "pages", "specviz", ".streamlit"}
    assert {path for path in sent if path.startswith("benchmarks")} <= {"benchmarks/results/methods.json"}
    assert {path for path in sent if "/" not in path} == {"app.py", "serve.py", "LICENSE"}
    assert [path for path in sent if "__pycache__" in path] == []


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("tests/x.py", True),
        (".streamlit/secrets.toml", True),
        (".streamlit/config.toml", False),
        ("specviz/core/trace.py", False),
        ("specviz/core/__pycache__/trace.pyc", True),
    ],
)
def test_the_last_pattern_that_fits_decides(path: str, out: bool) -> None:
    patterns = ["*", "!specviz", "!.streamlit/config.toml", "**/__pycache__"]
    assert ignored(path, patterns) is out


def test_steps_are_read_with_their_continuation_lines_and_without_comments() -> None:
    text = "# A comment\nFROM base\n\nRUN one \\\n    # inside\n    && two\nUSER 1:2\n"
    assert steps(text) == [Step("FROM", "base"), Step("RUN", "one && two"), Step("USER", "1:2")]
