# Everyday commands. `make demo` and `make test` do all set-up themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit fuzz format docs bench clean

help:  ## show these lines
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "unveil needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "Python could not make a virtual environment (on Debian: apt install python3-venv)"; exit 1; }

$(VENV)/.ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.ready-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/.ready

# The browser tests need Debian's chromium and are skipped without it; tried once, for a few minutes.
$(VENV)/.browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  [ "$$(id -u)" != 0 ] || [ ! -f /etc/debian_version ] || \
	  { timeout 120 apt-get update && DEBIAN_FRONTEND=noninteractive \
	    timeout 300 apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 </dev/null || true
	@mkdir -p $(VENV) && touch $@

$(VENV)/.ready-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/.ready-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

demo: $(VENV)/.ready  ## the main job on a bundled table
	$(BIN)/unveil demo
	@echo "The same in a browser: $(BIN)/pip install '.[web]' && $(BIN)/unveil serve --open"

test: lint types unit  ## lint, types and tests

lint: $(VENV)/.ready-test  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready-test  ## mypy on the package
	$(BIN)/mypy

unit: $(VENV)/.ready-test | $(VENV)/.browser  ## the tests
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

fuzz: $(VENV)/.ready-test  ## damaged files for every reader; SECONDS=how long (600)
	$(BIN)/python tools/fuzz.py --seconds $(or $(SECONDS),600) --seed $$(date +%s)

format: $(VENV)/.ready-test  ## put the code into its house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.ready-docs  ## the site, into site/
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.ready-bench  ## comparisons with other tools; DATA=folder of networks
	$(BIN)/python benchmarks/structure.py --data $(DATA)

clean:  ## remove everything that was made
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis
