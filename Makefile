# `make demo` and `make test` need only make and Python 3.10 or later; they set up the rest in .venv.
# Another Python: make test PYTHON=python3.12 (after `make clean`, if .venv is there already).

PYTHON ?= python3
MINUTES ?= 10
SOAK_DIR ?= build/soak
PYTEST_ARGS ?=
# Two at a time, a file's tests in one process: tests look at their own processes, not at the machine's.
PYTEST := pytest --numprocesses 2 --dist loadfile
# Errors only; to see what pip does: make test PIP_QUIET=
PIP_QUIET ?= -qq

VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
PIP_INSTALL := $(RUN) -m pip install $(PIP_QUIET) --disable-pip-version-check -c constraints.txt
PIP_HINT := echo "To see all that pip has to say: make $(MAKECMDGOALS) PIP_QUIET=" >&2

MADE := $(VENV)/.made
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
GPU_READY := $(VENV)/.gpu-ready
# Vulkan without a GPU, for the tests of the GPU: what Debian's chromium brings, and the loader; and a browser
# for the tests of the pages.
GPU_DRIVER := /usr/lib/chromium/vk_swiftshader_icd.json
GPU_PACKAGES := chromium libvulkan1
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0
PINS := pyproject.toml constraints.txt

TYPED := src $(if $(wildcard tools/*.py),tools) $(if $(wildcard benchmarks/*.py),benchmarks)
BENCHMARKS := $(sort $(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installs into one .venv at the same time would break each other under `make -j`.
.NOTPARALLEL:
.PHONY: help demo check test lint bench docs docs-output fuzz soak changes clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(READY) ## set up if needed, and show what outlive does on the models it ships
	@$(BIN)/outlive demo --all --report outlive-demo.html

test: lint $(GPU_READY) ## set up if needed, lint, and run all tests
	@$(RUN) -m $(PYTEST) $(PYTEST_ARGS)

# Nearest first: a changed test, a test of the same name, tests that import what changed, tests of its package.
check: lint ## lint, types, and the tests of what changed since BASE (main), in about two minutes
	@tests=$$($(RUN) tools/changed_tests.py $(if $(BASE),--base $(BASE))) && \
	$(RUN) -m $(PYTEST) $(PYTEST_ARGS) $$tests

lint: $(DEV_READY) ## ruff, ruff format --check, mypy --strict, and the prose
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy --strict $(TYPED)
	@$(RUN) tools/prose_check.py

bench: $(DEV_READY) ## run every benchmark; the results go to benchmarks/results
	@set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(RUN) "$$script"; done

docs: $(DEV_READY) ## write the generated parts of docs/ and README.md, and build the site into site/
	@$(RUN) tools/build_docs.py
	@$(RUN) -m zensical build --strict --clean
	@echo "Open site/index.html"

docs-output: $(DEV_READY) ## run the commands of all pages, and write what they print into the pages; draw the pictures
	@$(RUN) tools/build_docs.py --record
	@$(RUN) tools/draw_pictures.py

fuzz: $(DEV_READY) ## throw damaged models and answers at their readers for MINUTES (10) minutes
	@half=$$($(RUN) -c 'print($(MINUTES) / 2)'); set -e; \
	$(RUN) tools/fuzz_reader.py --minutes $$half; \
	$(RUN) tools/fuzz_coverage.py --minutes $$half

# It may be cut off at any time: what is done is kept in SOAK_DIR, and the next one goes on there.
soak: $(DEV_READY) ## the long tests (faults, chaos, mutants ...) for MINUTES (10) minutes; run it again to go on
	@$(RUN) tools/run_soak.py --minutes $(MINUTES) --folder $(SOAK_DIR)

# Without a version nothing is written.
changes: $(DEV_READY) ## show what the fragments in changes/ give; VERSION=1.2.3 writes them into CHANGELOG.md
	@$(RUN) -m towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)

clean: ## remove .venv, caches and build output
	@rm -rf $(VENV) build dist site .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@command -v $(PYTHON) >/dev/null || { \
	  echo "outlive needs Python 3.10 or later, and there is no '$(PYTHON)' here." >&2; \
	  echo "Install Python, or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "outlive needs Python 3.10 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments: its venv module is missing." >&2; \
	  echo "On Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version 2>&1) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(READY): $(MADE) $(PINS)
	@echo "Installing outlive and what it needs into $(VENV) ..."
	@$(PIP_INSTALL) -e . || { $(PIP_HINT); exit 1; }
	@touch $@

$(DEV_READY): $(MADE) $(PINS)
	@echo "Installing outlive, its tests and tools into $(VENV) ..."
	@$(PIP_INSTALL) -e '.[dev]' || { $(PIP_HINT); exit 1; }
	@touch $(READY) $@

# Where this cannot be had nothing fails: the tests that need it are skipped, and say so.
$(GPU_READY): $(MADE)
	@if [ ! -e $(GPU_DRIVER) ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing a software GPU and a browser for the tests ($(GPU_PACKAGES)) ..."; \
	  { $(APT) update && $(APT) install -y --no-install-recommends $(GPU_PACKAGES); } >/dev/null 2>&1 || \
	  echo "It cannot be installed here; the tests of the GPU and of pages in a browser will be skipped." >&2; \
	fi
	@touch $@
