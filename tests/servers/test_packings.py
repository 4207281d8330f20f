"""One file in each packing that is read: llama.cpp's log probabilities along its own greedy text, and ours."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.serving import free_port
from specviz import load_model
from specviz.models.gguf_model import PACKINGS, read_gguf
from tests.servers.conftest import folder_of
from tests.servers.questions import CONTEXT, OPENING, TARGET
from tests.servers.recording import prompt_ids
from tests.servers.running import answering

TOKENS, LIKELIEST = 32, 20
# The most, and in the median, that the log probabilities of the most probable tokens may be apart: twice what was seen.
# llama.cpp rounds what it multiplies with packed weights to 16 bits, or to 8, and this program does not.
APART = {"F32": (1e-4, 3e-5), "F16": (0.006, 0.001), "BF16": (0.05, 0.01)}
APART |= dict.fromkeys(("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"), (0.25, 0.04))
APART |= dict.fromkeys(("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"), (0.5, 0.07))
# The same file, once llama.cpp has unpacked it: this program rounds the numbers to float16.
UNPACKED = (0.01, 0.0015)


def ask_llama(file: Path, folder: Path, prompt: list[int]) -> list[dict[str, Any]]:
    """What llama.cpp says of each token that it writes: its id, and the log probabilities of the most probable ones."""
    port = free_port()
    exact = ["-ctk", "f32", "-ctv", "f32", "-fa", "off"]  # flash attention rounds
    model = ["-m", str(file), "-t", "1", "-c", str(CONTEXT), "-np", "1", "--no-ui", *exact]
    command = [f"{folder}/llama-server", *model, "--host", "127.0.0.1", "--port", str(port)]
    body = {"prompt": prompt, "n_predict": TOKENS, "temperature": -1, "n_probs": LIKELIEST}
    with answering(command, port, file.with_suffix(".log"), folder) as client:
        answer = client.post("/completion", json=body).raise_for_status().json()
    written: list[dict[str, Any]] = answer["completion_probabilities"]
    return written


def pack(source: Path, made: Path, packing: str) -> Path:
    command = ["build/bin/llama-quantize", "--pure", "--allow-requantize", str(source), str(made), packing, "1"]
    subprocess.run(command, cwd=folder_of("llama.cpp"), check=True, capture_output=True)
    return made


@pytest.mark.parametrize("packing", [each.name for each in PACKINGS])
def test_a_file_in_each_packing_has_llama_cpps_own_log_probabilities(packing: str, tmp_path: Path) -> None:
    """As it is; and unpacked to F32 by llama.cpp itself, so that its rounding does not hide ours."""
    folder, prompt = folder_of("llama.cpp"), prompt_ids(OPENING)
    file = pack(folder / f"{TARGET}.gguf", tmp_path / "packed.gguf", packing)
    assert packing in {tensor.packing.name for tensor in read_gguf(file).tensors.values()}
    unpacked = pack(file, tmp_path / "unpacked.gguf", "F32")
    for read, (most, median), others in ((file, APART[packing], 2), (unpacked, UNPACKED, 0)):
        places = ask_llama(read, folder, prompt)
        written = torch.tensor([place["id"] for place in places])
        logits = load_model(str(file)).open_reader().read(torch.tensor([*prompt, *written[:-1]]))
        ours = logits[len(prompt) - 1 :].log_softmax(-1)
        likely = [place["top_logprobs"] for place in places]
        ids, theirs = (torch.tensor([[each[name] for each in its] for its in likely]) for name in ("id", "logprob"))
        apart, same = (ours.gather(1, ids) - theirs).abs(), int((ours.argmax(-1) == written).sum())
        print(f"{packing} {read.stem}: {apart.max():.2g} at most, {apart.median():.2g} in the median, {same} the same")
        assert len(places) == TOKENS <= same + others
        assert apart.max() <= most
        assert apart.median() <= median
