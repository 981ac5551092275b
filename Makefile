# Two commands are enough for a newcomer: `make check` and `make test`. Each sets up .venv first if it has to.

PYTHON ?= python3
# Processes that run tests side by side; 0 runs them in pytest's own process.
WORKERS ?= auto
# Further arguments for pytest: make test ARGS="-k symmetry"
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest --maxprocesses=4 --dist=worksteal

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
TOO_OLD = tidegauge needs Python 3.11 or later, which '$(PYTHON)' is not; name another: make PYTHON=python3.12
NO_VENV = '$(PYTHON)' has no venv module; install it first (on Debian and Ubuntu: the package python3-venv)
NO_PACKAGES = the packages named in pyproject.toml could not be installed; the lines above say why

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install check test test-slow lint format accept bench mutants counterexamples clean

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | awk -F': ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

install: $(INSTALLED) ## set up .venv with tidegauge, its tests and its tools

# An environment that is there and works is kept; a broken or an old one is made anew.
$(INSTALLED): pyproject.toml constraints.txt
	@$(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null || { \
	    $(PYTHON) -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "$(TOO_OLD)" >&2; exit 1; }; \
	    $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(NO_VENV)" >&2; exit 1; }; \
	    echo "setting up $(VENV)"; \
	    $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing what pyproject.toml names, at the versions of constraints.txt"
	@# The build backend comes first, pinned like the rest, so that nothing is fetched behind the constraints.
	@$(PIP) install --constraint constraints.txt hatchling \
	    && $(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[dev]' \
	    || { echo "$(NO_PACKAGES)" >&2; exit 1; }
	@touch $@

check: $(INSTALLED) ## the main job, tidegauge compare (every truncation rule against every promise)
	$(BIN)/tidegauge compare

test: lint ## lint, types and every test but the slow ones
	$(PYTEST) -n $(WORKERS) -m "not slow" $(ARGS)
	@echo "The tests marked slow were left out: make test-slow runs them."

test-slow: $(INSTALLED) ## the tests at larger bounds, and a fresh installation
	$(BIN)/python -m pytest -m slow $(ARGS)

lint: $(INSTALLED) ## ruff and mypy, both strict
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(INSTALLED) ## let ruff lay the code out and mend what it can
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .

accept: $(INSTALLED) ## take today's output as the expected one; read the difference before you commit it
	$(BIN)/python -m pytest -m "not slow" --snapshot-update $(ARGS)

bench: $(INSTALLED) ## states a second, beside a peer on the same protocol
	$(BIN)/python benchmarks/run.py $(ARGS)

mutants: $(INSTALLED) ## weaken each rule of the model alone, and say which spec notices
	$(BIN)/tidegauge mutate $(ARGS)

# Specs in slow/ repeat others at larger bounds, and traces of examples need their code. An invariant that falls is what the rest are for: exit code 1 is as wished here, anything above is not.
counterexamples: $(INSTALLED) ## write counterexamples/ anew from the shipped specs
	@find counterexamples -name '*.json' -delete
	@find specs/*/ -name '*.toml' -not -path 'specs/slow/*' -not -path 'specs/examples/*' | LC_ALL=C sort | sed 's|^specs/||; s|\.toml$$||' | while read -r spec; do \
	    echo "$$spec"; \
	    $(BIN)/tidegauge check "$$spec" --quiet --output counterexamples </dev/null || [ $$? -eq 1 ] || exit 1; \
	done

clean: ## remove what was made, .venv included
	rm -rf $(VENV) build dist tidegauge-out .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
