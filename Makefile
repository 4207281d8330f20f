# make run    the app on http://localhost:8501 (PORT= changes it), installing what it needs first
# make test   every check: style, types, tests
# make clean  forget the environment and the caches
PYTHON ?= python3
PORT ?= 8501

VENV := .venv
PY := $(VENV)/bin/python

.PHONY: run test clean

run: $(VENV)/installed
	@mkdir -p static
	$(PY) -m streamlit run app.py --server.port $(PORT)

test: $(VENV)/installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	CHROMIUM="$$($(PY) scripts/find_chromium.py --install)" && export CHROMIUM && $(PY) -m pytest

$(PY):
	@command -v $(PYTHON) >/dev/null || { echo "specviz needs Python 3.11 or newer, and there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("specviz needs Python 3.11 or newer, and $(PYTHON) is %d.%d: try make with PYTHON=python3.12." % v[:2])'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	$(PY) -m pip install --quiet --upgrade pip

# The stamps are newer than the requirements they installed, so nothing is installed twice.
$(VENV)/installed: requirements.txt | $(PY)
	$(PY) -m pip install -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt requirements.txt | $(PY)
	$(PY) -m pip install -r requirements-dev.txt
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache static
