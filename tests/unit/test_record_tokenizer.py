"""The tokenizer that the web server reads a record with: a file of this machine, and nothing that takes seconds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.pairs import HUB_MODELS
from specviz.models.record_tokenizer import tokenizer_here
from specviz.models.tokenizer_files import tokenizer_file, with_tokenizer


def test_the_texts_of_the_ids_are_the_text() -> None:
    tokenizer = tokenizer_here("wren-base")
    ids = tokenizer.encode("Once upon a time")
    assert len(ids) > 1
    assert "".join(tokenizer.texts(ids)) == "Once upon a time"
    assert tokenizer.texts([10**6]) == ["⟨token 1000000⟩"]


def test_a_folder_is_read_only_where_the_operator_allows_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", tmp_path)
    monkeypatch.setenv("SPECVIZ_MODELS", "catalogue")
    with pytest.raises(InputError, match="is not on this server") as refused:
        tokenizer_here(str(tmp_path))
    assert str(tmp_path.parent) not in str(refused.value)
    monkeypatch.setenv("SPECVIZ_MODELS", "folders")
    assert tokenizer_here(str(tmp_path)).encode("Once") == tokenizer_here("wren-base").encode("Once")


def test_a_downloaded_model_lends_its_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = HUB_MODELS[0].name
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert name not in with_tokenizer()
    folder = tmp_path / "specviz" / f"models--{name.replace('/', '--')}" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", folder)
    assert name in with_tokenizer()
    assert tokenizer_here(name).encode("Once") == tokenizer_here("wren-base").encode("Once")
    monkeypatch.setenv("SPECVIZ_MODELS", "bundled")
    with pytest.raises(InputError, match="is not on this server"):
        tokenizer_here(name)


@pytest.mark.parametrize("name", ["../..", "..", "/etc", "a/../b", "", "*/*", "a" * 5000])
def test_no_name_leads_out_of_the_cache(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hub").mkdir()
    shutil.copy(MODELS_FOLDER / "wren-base" / "tokenizer.json", tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("SPECVIZ_MODELS", "hub")
    assert tokenizer_file(name) is None


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"])
def test_the_cache_is_where_the_hubs_client_has_it(variable: str, tmp_path: Path) -> None:
    names = ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HUGGINGFACE_HUB_CACHE")
    rest = {name: value for name, value in os.environ.items() if name not in names}
    script = (
        "from huggingface_hub import constants; from specviz.models.tokenizer_files import hub_cache;"
        "print(constants.HF_HUB_CACHE == str(hub_cache()), hub_cache())"
    )
    where = rest | {variable: str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=where, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"True {tmp_path}")


@pytest.mark.parametrize("content", ["", "{}", "[", '{"model": {"type": "BPE"}}'])
def test_a_broken_tokenizer_is_one_sentence(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_text(content, encoding="utf-8")
    monkeypatch.setenv("SPECVIZ_MODELS", "any")
    with pytest.raises(InputError, match=r"The tokenizer\.json of .* cannot be read\."):
        tokenizer_here(str(tmp_path))


def test_the_web_server_reads_a_tokenizer_without_torch() -> None:
    script = (
        "import sys; from specviz.models.record_tokenizer import tokenizer_here;"
        "tokenizer_here('wren-base').encode('a');"
        "print([name for name in ('torch', 'transformers', 'huggingface_hub') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr
