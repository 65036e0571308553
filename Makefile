# Three commands: `make install`, `make demo` and `make test`. `make help` lists the rest.
# The first that can make an environment. A system's own is built with profile-guided optimisation, one that a version
# manager has compiled is mostly not, and takes a tenth more of the processor's time over a page.
PYTHON ?= $(or $(shell for each in /usr/bin/python3.11 python3.11; do \
	$$each -c 'import ensurepip, venv' 2>/dev/null && echo $$each && break; done),python3.11)
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py
TESTS ?= tests
# A stamp is named by what it was made from, so a changed pin installs again and nothing else does.
STAMP = $(VENV)/.installed-$(shell cat requirements.txt | cksum | cut -d' ' -f1)
LENSKIT := .venv-lenskit
STAMP_LENSKIT = $(LENSKIT)/.installed-$(shell cat requirements.txt requirements-dev.txt requirements-lenskit.txt | cksum | cut -d' ' -f1)
STAMP_DEV = $(VENV)/.installed-dev-$(shell cat requirements.txt requirements-dev.txt | cksum | cut -d' ' -f1)

.PHONY: help install demo up test test-lenskit coverage lint format clean bench

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "Parallax needs Python 3.11; none is called $(PYTHON). Try: make PYTHON=python3 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "$(PYTHON) is not Python 3.11. Try: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): | $(BIN)/python
	@echo "Installing packages (once) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@rm -f $(VENV)/.installed-[0-9]*; touch $@

$(STAMP_DEV): $(STAMP)
	@echo "Installing packages for the tests (once) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@rm -f $(VENV)/.installed-dev-*; touch $@

install: $(STAMP) ## Create the environment and the database, or bring both up to date
	@$(MANAGE) migrate --no-input --verbosity 0
	@echo "Parallax is installed. Run \`make demo\`, or \`$(MANAGE) COMMAND\`."

demo: install ## Run the main job on the demo catalogue and serve it (PORT=8000, DEMO_EXIT=1 to stop when ready)
	@exec $(MANAGE) demo --port $(PORT) $(if $(DEMO_EXIT),--exit)

up: install ## Serve the site: web server and worker (PORT=8000)
	@exec $(MANAGE) up --port $(PORT)

test: $(STAMP_DEV) ## Run the tests (TESTS=path to run some)
	@$(BIN)/python -m pytest $(TESTS) $(PYTEST_OPTIONS)

$(STAMP_LENSKIT): | $(BIN)/python
	@echo "Installing LensKit and its own pins into $(LENSKIT) (once) …"
	@$(BIN)/python -m venv $(LENSKIT)
	@$(LENSKIT)/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(LENSKIT)/bin/pip install --quiet --disable-pip-version-check -r requirements-lenskit.txt
	@rm -f $(LENSKIT)/.installed-*; touch $@

test-lenskit: $(STAMP_LENSKIT) ## Run the algorithms' tests with LensKit, in an environment of its own
	@$(LENSKIT)/bin/python -m pytest tests/recommenders $(PYTEST_OPTIONS)

# Compiled loops cannot be traced: here they run as plain Python, and what a compiled run kept stays out of the way.
coverage: $(STAMP_DEV) ## Check that the tests of recommenders reach every branch, in the kernels too
	@NUMBA_DISABLE_JIT=1 NUMBA_CACHE_DIR=$(or $(TMPDIR),/tmp)/parallax-numba-plain \
		$(BIN)/python -m pytest tests/recommenders -q -n 2 -m "not slow and not reference" \
		--cov=recommenders --cov-branch --cov-report=term-missing --cov-fail-under=100

lint: $(STAMP_DEV) ## Check style, types, import contracts, migrations and templates
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(MANAGE) makemigrations --check --dry-run
	git ls-files -z 'templates/*.html' | xargs -0 $(BIN)/djade --check --target-version 5.2
	$(BIN)/codespell

format: $(STAMP_DEV) ## Format code and templates
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	git ls-files -z 'templates/*.html' | xargs -0 $(BIN)/djade --target-version 5.2

bench: $(STAMP_DEV) ## Run the benchmarks, ten minutes, into one table (var/benchmarks/bench.md)
	@PYTHONPATH=. $(BIN)/python benchmarks/bench.py

clean: ## Remove all that these commands made
	rm -rf $(VENV) $(LENSKIT) var .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
