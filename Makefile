# make run    the app on http://localhost:8501, installing what it needs first (PORT= changes the port; with HOST=0.0.0.0
#             other machines reach it)
# make dev    the same, and it shows what you change in the program at once
# make smollm2  fetch a chat model that people know (93 MB, once): then it is in the menus as smollm2
# make check  style, types, unit tests and the JavaScript's own: two minutes on two slow cores
# make test   every kind of check and test, in parallel: about 15 minutes of processor time
# make test-all  that with every grid in full, every page on every screen, long walks, the soak and the cluster; CI runs this
# make soak   thirty harmful visitors at once, with the engine killed again and again: seven to ten minutes
# make audit  whether a pinned package has a known vulnerability
# make mutants  whether the tests still find as many of the small faults that mutmut makes in what decides; OF=judge: one part
# make lock   write the lock files again, after a change of the requirements
# make test-cluster  the tests that start Ray: a sweep on two nodes, engines on Serve; an environment of their own: some minutes
# make test-servers VLLM=folder LLAMA=folder  vLLM and llama.cpp's server asked again, before a release: ten minutes
# make clean  forget the environment and the caches
PYTHON ?= python3
PORT ?= 8501
HOST ?= localhost

VENV := .venv
PY := $(VENV)/bin/python
RAY_VENV := .venv-ray
RAY_PY := $(RAY_VENV)/bin/python
LOCK_VENV := .venv-lock
MUTANTS_VENV := .venv-mutants
UV := 0.13.9

# tests/conftest.py says how many workers. One that has nothing left takes tests of another one.
PYTEST := $(PY) -m pytest --numprocesses auto --dist worksteal --durations 10
# The types are checked while the tests run, and both must be right.
BESIDE_TYPES = { $(PY) -m mypy >$(VENV)/types.log 2>&1 & types=$$!; $(1); tests=$$?; wait $$types; typed=$$?; \
	cat $(VENV)/types.log; exit $$((tests | typed)); }
FIND_CHROMIUM = CHROMIUM="$$($(PY) scripts/find_chromium.py --install)" && export CHROMIUM

.PHONY: run dev smollm2 style js check test test-all test-cluster test-servers soak audit mutants lock clean

run: $(VENV)/installed
	@mkdir -p static
	$(PY) -m streamlit run serve.py --server.address $(HOST) --server.port $(PORT)

dev: $(VENV)/installed
	@mkdir -p static
	$(PY) -m streamlit run serve.py --server.address $(HOST) --server.port $(PORT) --server.fileWatcherType auto

smollm2: $(VENV)/installed
	$(PY) -m specviz models get smollm2

style: $(VENV)/installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports --no-cache
	$(PY) -m deptry .

js: node_modules/installed
	npm run --silent check
	npm test --silent

check: style js
	$(call BESIDE_TYPES,$(PYTEST) tests/unit tests/js -m "not full")

test: style js
	$(FIND_CHROMIUM) && $(call BESIDE_TYPES,$(PYTEST) -m "not full and not soak and not servers")

test-all: style js
	$(FIND_CHROMIUM) && $(call BESIDE_TYPES,$(PYTEST) --hypothesis-profile full -m "not soak and not servers")
	$(MAKE) soak test-cluster
	-$(MAKE) audit # needs the network, and its data are of today: it is shown, and fails nothing
	if docker info >/dev/null 2>&1; then docker build .; fi

soak: $(VENV)/installed-dev
	$(PY) -m pytest tests/load/test_soak.py --numprocesses 0

# One test after the other: each starts a cluster, which needs the cores for itself.
test-cluster: $(RAY_VENV)/installed
	$(RAY_PY) -m pytest tests/cluster --numprocesses 0 --durations 10

# Without a folder its tests are skipped, and the end of the output says how to make it.
test-servers: $(VENV)/installed-dev
	VLLM="$(VLLM)" LLAMA="$(LLAMA)" $(PY) -m pytest tests/servers --numprocesses 0 --durations 10

# Every locked package, and torch, which no lock file has.
AUDIT := -m pip_audit --no-deps --disable-pip --progress-spinner off
audit: $(VENV)/installed-dev
	grep '^torch==' requirements.txt >$(VENV)/torch.txt
	$(PY) $(AUDIT) $(patsubst %,--requirement %,requirements.lock requirements-dev.lock requirements-ray.lock); \
	locked=$$?; $(PY) $(AUDIT) --requirement $(VENV)/torch.txt && exit $$locked

# One process, so that it can run beside other work: about an hour.
mutants: $(MUTANTS_VENV)/installed
	nice $(MUTANTS_VENV)/bin/python scripts/mutants.py $(OF)

# Every package that comes with the direct ones, with its hashes. The later files have what requirements.lock does not have,
# and agree with the ones before. Not torch: which file fits depends on the machine, and so do the parts of CUDA that come
# with it (those that torch itself asks for).
FROM_TORCH := cuda-bindings cuda-toolkit nvidia-cudnn-cu13 nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvshmem-cu13 triton
COMPILE = printf '%s\n' $(FROM_TORCH) | $(LOCK_VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-package torch --excludes /dev/stdin --custom-compile-command "make lock" --upgrade
BESIDE = -c requirements.lock $$(sed -n 's/^\([a-z0-9._-]*\).*==.*/--no-emit-package \1/p' requirements.lock)

lock: $(LOCK_VENV)/uv-$(UV)
	$(COMPILE) requirements.txt -o requirements.lock >/dev/null
	$(COMPILE) pyproject.toml --group dev $(BESIDE) -o requirements-dev.lock >/dev/null
	$(COMPILE) pyproject.toml --extra ray $(BESIDE) -c requirements-dev.lock -o requirements-ray.lock >/dev/null

$(LOCK_VENV)/uv-$(UV): | $(PY)
	$(PY) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --quiet uv==$(UV)
	@touch $@

$(PY):
	@command -v $(PYTHON) >/dev/null || { echo "specviz needs Python 3.11 or newer, and there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("specviz needs Python 3.11 or newer, and $(PYTHON) is %d.%d: try make with PYTHON=python3.12." % v[:2])'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# First what the lock file has, each file compared with its hash; then torch is all that is missing of the requirements.
LOCKED := -m pip install --no-deps --require-hashes -r

# The stamps are newer than the lock files they installed, so nothing is installed twice.
$(VENV)/installed: requirements.lock | $(PY) $(VENV)/bin/specviz
	$(PY) $(LOCKED) requirements.lock
	$(PY) -m pip install -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.lock requirements.lock | $(PY) $(VENV)/bin/specviz
	$(PY) $(LOCKED) requirements.lock -r requirements-dev.lock
	$(PY) -m pip install -r requirements.txt
	@touch $@ $(VENV)/installed

# The command of this checkout, from any folder: what pip writes for `pip install -e .`, without a tool to build packages.
$(VENV)/bin/specviz: | $(PY)
	$(PY) -c 'import os, site; print(os.getcwd(), file=open(site.getsitepackages()[0] + "/specviz.pth", "w"))'
	printf '#!/bin/sh\nexec "%s/python" -P -m specviz "$$@"\n' "$$(cd $(VENV)/bin && pwd)" > $@
	chmod +x $@

# Ray is optional, so the tests that need it have an environment of their own. It sees the packages of the first one
# (torch is large) through a .pth file, and adds Ray.
$(RAY_VENV)/installed: requirements-ray.lock $(VENV)/installed-dev
	$(PY) -m venv --clear $(RAY_VENV)
	$(PY) -c 'import site; print(site.getsitepackages()[0])' > "$$($(RAY_PY) -c 'import site; print(site.getsitepackages()[0])')/first.pth"
	$(RAY_PY) $(LOCKED) requirements-ray.lock
	@touch $@

# In the same way, for mutmut.
$(MUTANTS_VENV)/installed: $(VENV)/installed-dev
	$(PY) -m venv --clear $(MUTANTS_VENV)
	$(PY) -c 'import site; print(site.getsitepackages()[0])' > "$$($(MUTANTS_VENV)/bin/python -c 'import site; print(site.getsitepackages()[0])')/first.pth"
	$(MUTANTS_VENV)/bin/python -m pip install --quiet $$($(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["mutants"])')
	@touch $@

node_modules/installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "The JavaScript checks need Node.js 20 or newer with npm, and there is no npm here." >&2; exit 1; }
	npm ci --no-audit --no-fund
	@touch $@

clean:
	rm -rf $(VENV) $(RAY_VENV) $(LOCK_VENV) $(MUTANTS_VENV) .cache mutants node_modules .pytest_cache .mypy_cache .ruff_cache static
