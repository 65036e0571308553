# Three commands: `make install`, `make demo` and `make test`. `make help` lists the rest.
# The newest interpreter that can create an environment. Of one version a system Python is preferred: it is built with
# profile-guided optimisation, unlike most builds of version managers, which need a tenth more processor time per page.
VERSIONS := 3.14 3.13 3.12 3.11
PYTHON ?= $(or $(shell for each in $(foreach version,$(VERSIONS),/usr/bin/python$(version) python$(version)); do \
	$$each -c 'import ensurepip, venv' 2>/dev/null && echo $$each && break; done),python3)
PORT ?= 8000
DEMO ?= films
# Packages are compiled when they are first imported, and many of their modules never are. Containers often forbid writing
# what was compiled; then every process would compile everything again.
PIP_INSTALL := pip install --quiet --disable-pip-version-check --no-compile
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py
TESTS ?= tests
# Tests run side by side on every core; a file's tests stay together, as they share what the file sets up. The order of
# the files is that of tests/conftest.py: xdist's own starts files of few and long tests last.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# Packages whose every branch a test reaches, and the least percentage of the whole.
FULLY_COVERED := recommenders inference charting evaluation/metrics evaluation/protocols \
	studies/instrument studies/allocation
LEAST_COVERAGE := 95
PIP_AUDIT := 2.10.1
# Strict: a package that the service does not know is a failure.
AUDIT_OPTIONS ?= --strict
CYCLONEDX := 7.5.0
PIP_LICENSES := 5.5.5
# A stamp is named by what it was made from, so a changed pin installs again and nothing else does.
STAMP = $(VENV)/.installed-$(shell cat requirements.txt | cksum | cut -d' ' -f1)
STAMP_BAYESIAN = $(VENV)/.installed-bayesian-$(shell cat requirements.txt requirements-bayesian.txt | cksum | cut -d' ' -f1)
STAMP_DOCS = $(VENV)/.installed-docs-$(shell cat requirements.txt requirements-docs.txt | cksum | cut -d' ' -f1)
STAMP_S3 = $(VENV)/.installed-s3-$(shell cat requirements.txt requirements-s3.txt | cksum | cut -d' ' -f1)
STAMP_TEST = $(VENV)/.installed-test-$(shell cat requirements.txt requirements-test.txt | cksum | cut -d' ' -f1)
STAMP_SLOW = $(VENV)/.installed-slow-$(shell cat requirements.txt requirements-bayesian.txt requirements-s3.txt requirements-test.txt requirements-slow.txt | cksum | cut -d' ' -f1)
STAMP_LINT = $(VENV)/.installed-lint-$(shell cat requirements.txt requirements-lint.txt | cksum | cut -d' ' -f1)
# Compiling the numeric kernels takes half a minute: once, and not in every process of the tests.
KERNELS = $(shell find catalog evaluation recommenders -name '*kernels.py' -o -path '*/kernels/*.py' | LC_ALL=C sort)
STAMP_KERNELS = var/numba/.compiled-$(shell cat $(KERNELS) requirements.txt 2>/dev/null | cksum | cut -d' ' -f1)
STAMP_CLIENT = var/client/.installed-$(shell cksum < requirements-client.txt | cut -d' ' -f1)
STAMP_NODE = node_modules/.installed-$(shell cksum < package.json | cut -d' ' -f1)

.PHONY: help install checkers testers kernels approve bayesian s3 demo up quick test test-core test-slow test-all test-kernels coverage-check mutants lint lint-static audit format clean bench screenshots translations docs client notebooks licences sbom

help: ## Say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "Parallax needs Python 3.11 to 3.14; none is called $(PYTHON). Try: make PYTHON=/path/to/python3.13 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { echo "$(PYTHON) is not Python 3.11 to 3.14. Try: make PYTHON=/path/to/python3.13 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): | $(BIN)/python
	@echo "Installing packages (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements.txt
	@rm -f $(VENV)/.installed-[0-9]*; touch $@

$(STAMP_TEST): $(STAMP)
	@echo "Installing packages for the tests (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-test.txt
	@rm -f $(VENV)/.installed-test-*; touch $@

$(STAMP_SLOW): $(STAMP_TEST)
	@echo "Installing packages for the slow tests (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-slow.txt
	@rm -f $(VENV)/.installed-slow-*; touch $@

$(STAMP_LINT): $(STAMP)
	@echo "Installing packages for lint (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-lint.txt
	@rm -f $(VENV)/.installed-lint-*; touch $@

install: $(STAMP) ## Create the environment and the database, or bring both up to date
	@$(BIN)/python -m charting.runtime
	@$(MANAGE) migrate --no-input --verbosity 0
	@echo "Parallax is installed. Run \`make demo\`, or \`$(MANAGE) COMMAND\`."

# Packages alone, one after the other: what .ci/run then runs side by side installs nothing.
checkers: $(STAMP_LINT) $(STAMP_DOCS)

testers: $(STAMP_SLOW)

$(STAMP_BAYESIAN): $(STAMP)
	@echo "Installing NumPyro (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-bayesian.txt
	@rm -f $(VENV)/.installed-bayesian-*; touch $@

bayesian: install $(STAMP_BAYESIAN) ## Install NumPyro too, for the Bayesian analysis of reports (400 MB)

$(STAMP_S3): $(STAMP)
	@echo "Installing the client of S3 (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-s3.txt
	@rm -f $(VENV)/.installed-s3-*; touch $@

s3: install $(STAMP_S3) ## Install the client of S3 too, for files in a bucket (PARALLAX_ARTEFACTS_S3)

demo: $(STAMP) ## Run the main job on a demo catalogue and serve it (DEMO=films or books, QUICK=1, PORT=8000, DEMO_EXIT=1 to stop when ready), in two to four minutes
	@exec $(MANAGE) demo --catalogue $(DEMO) --port $(PORT) $(if $(QUICK),--quick) $(if $(DEMO_EXIT),--exit)

up: install ## Serve the site: web server and worker (PORT=8000)
	@exec $(MANAGE) up --port $(PORT)

$(STAMP_KERNELS): $(STAMP)
	@echo "Compiling the numeric kernels (once) …"
	@NUMBA_CACHE_DIR=var/numba $(MANAGE) compile_kernels >/dev/null
	@rm -f var/numba/.compiled-*; touch $@

kernels: $(STAMP_KERNELS)

quick: $(STAMP_TEST) $(STAMP_KERNELS) ## Run the quick unit tests (TESTS=path to run some)
	@$(PYTEST) $(TESTS) -q -m "unit and not (integration or slow)" $(PYTEST_OPTIONS)

test: $(STAMP_TEST) $(STAMP_KERNELS) ## Run the tests that are not marked slow (TESTS=path to run some)
	@$(PYTEST) $(TESTS) -m "not slow" $(PYTEST_OPTIONS)

approve: $(STAMP_TEST) # Write the texts of tests/approved anew, to be read as a difference
	@rm -rf tests/approved
	@PARALLAX_APPROVE=1 $(BIN)/python -m pytest -q $(shell grep -rlE 'assert_\w*approved' tests --include=test_*.py) $(PYTEST_OPTIONS)

test-core: $(STAMP_SLOW) $(STAMP_KERNELS) ## Run the slow tests of what must never break: main job, pages, servers, upgrade, restore
	@files=$$(grep -rlF --include='test_*.py' mark.core $(TESTS)) || { echo "No core tests in $(TESTS)"; exit 1; }; \
		$(PYTEST) $$files -m core $(PYTEST_OPTIONS)

test-slow: $(STAMP_SLOW) $(STAMP_KERNELS) ## Run all tests that are marked slow
	@$(PYTEST) $(TESTS) -m slow $(PYTEST_OPTIONS)

# Before an issue is closed, and each night.
test-all: ## Run every test, the kernels' as plain Python too, and check which branches they reach
	@rm -rf var/coverage
	@for each in test test-kernels test-slow; do COVERAGE_FILE=var/coverage/run-$$each \
		$(MAKE) --no-print-directory $$each PYTEST_OPTIONS="--cov --cov-report= $(PYTEST_OPTIONS)" || exit 1; done
	@$(MAKE) --no-print-directory coverage-check

coverage-check: $(STAMP_TEST) # Of the runs that left their data in var/coverage
	@$(BIN)/coverage combine --keep --quiet --data-file=var/coverage/all var/coverage/run-*
	@for each in $(FULLY_COVERED); do \
		$(BIN)/coverage report --data-file=var/coverage/all --include="$$each/*" --fail-under=100 || exit 1; done
	@$(BIN)/coverage report --data-file=var/coverage/all --fail-under=$(LEAST_COVERAGE)

# Compiled loops cannot be traced: here they run as plain Python, and what a compiled run kept stays out of the way.
# Their 64-bit keys wrap around on purpose, which NumPy's scalars warn of and compiled integers do not.
test-kernels: $(STAMP_TEST) ## Run the tests of the numeric kernels as plain Python
	@NUMBA_DISABLE_JIT=1 NUMBA_CACHE_DIR=$(or $(TMPDIR),/tmp)/parallax-numba-plain \
		$(PYTEST) tests/recommenders tests/evaluation -q -m "kernels and not slow" \
		-W "ignore:overflow encountered:RuntimeWarning" $(PYTEST_OPTIONS)

mutants: $(STAMP_SLOW) ## Change the statistics, metrics, protocols and allocation one line at a time: do tests notice?
	@$(BIN)/mutmut run $(MUTANTS)
	@$(BIN)/mutmut results

$(STAMP_NODE): package.json
	@npm install --no-package-lock --no-fund --no-audit --loglevel=error
	@touch $@

lint-static: ## Check scripts and style sheets, where there is Node.js
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(STAMP_NODE) && \
		node_modules/.bin/biome lint --error-on-warnings; \
	elif [ -n "$(PARALLAX_REQUIRE_TOOLS)" ]; then echo "npm is not installed, and PARALLAX_REQUIRE_TOOLS makes it mandatory"; exit 1; \
	else echo "Scripts and style sheets are not checked: npm is not installed (apt-get install npm)"; fi

lint: $(STAMP_LINT) lint-static ## Check style, security, types, import contracts, migrations, templates, launchers, scripts and style sheets
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive .
	$(BIN)/mypy .
	$(MANAGE) makemigrations --check --dry-run
	find templates -name '*.html' -print0 | xargs -0 $(BIN)/djade --check --target-version 5.2
	@find templates -name '*.html' -print0 | xargs -0 awk \
		'length > 160 { print FILENAME ":" FNR ": " length " characters; at most 160"; long = 1 } END { exit long }'
	$(BIN)/codespell
	@! grep -rnP '(?<!\.venv/bin/python )manage\.py [a-z{]' . --include=Dockerfile --include=Makefile \
		$(foreach ending,md html py po yaml yml,--include='*.$(ending)') --exclude=CHANGELOG.md \
		$(foreach folder,.git .venv var node_modules mutants tests benchmarks,--exclude-dir=$(folder)) \
		|| { echo "Commands are written with the launcher .venv/bin/python manage.py"; exit 1; }

# Asks pypi.org for known vulnerabilities of every pinned package, in an environment of its own.
audit: ## Check the pinned packages for known vulnerabilities with pip-audit
	@$(PYTHON) -m venv var/audit
	@var/audit/bin/$(PIP_INSTALL) pip-audit==$(PIP_AUDIT)
	@var/audit/bin/pip-audit $(AUDIT_OPTIONS) --progress-spinner off --no-deps \
		--requirement requirements.txt --requirement requirements-bayesian.txt --requirement requirements-s3.txt

format: $(STAMP_LINT) ## Format code and templates
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	find templates -name '*.html' -print0 | xargs -0 $(BIN)/djade --target-version 5.2

bench: $(STAMP_SLOW) ## Run the benchmarks, ten minutes, into one table (var/benchmarks/bench.md)
	@PYTHONPATH=. $(BIN)/python benchmarks/bench.py

translations: $(STAMP_TEST) ## List the sentences that lack a translation (RELEASE=1: fail if there are any)
	@$(BIN)/python -m tests.translations $(if $(RELEASE),--release)

screenshots: $(STAMP_TEST) ## Take pictures of every page at four widths, light and dark, into var/gallery (ONLY=text; DOCS=1: those of docs/images; PORT=8471)
	@$(BIN)/python -m tests.gallery.shoot var/gallery --only "$(ONLY)" $(if $(DOCS),--docs)

$(STAMP_DOCS): $(STAMP)
	@echo "Installing packages for the documentation (once) …"
	@$(BIN)/$(PIP_INSTALL) -r requirements-docs.txt
	@rm -f $(VENV)/.installed-docs-*; touch $@

docs: install $(STAMP_DOCS) ## Check the documentation and build its site into var/docs; a warning is an error
	@rm -rf var/docs
	@$(BIN)/python -m sphinx -q -W --keep-going -E -c docs/_site -b html -d var/docs-cache docs var/docs
	@echo "The documentation is built: open var/docs/index.html"

$(STAMP_CLIENT): | $(BIN)/python
	@echo "Installing packages for the clients (once) …"
	@rm -rf var/client; $(BIN)/python -m venv var/client
	@var/client/bin/$(PIP_INSTALL) -r requirements-client.txt
	@touch $@

CLIENT := clients/python/src/parallax_client
client: $(STAMP_CLIENT) ## Build the wheels of the Python client and of the recommenders into var/wheels
	@rm -rf $(CLIENT)/low var/wheels
	@var/client/bin/openapi-python-client generate --path docs/reference/api.yaml --output-path $(CLIENT)/low \
		--meta none --overwrite --config clients/python/generate.yaml --fail-on-warning
	@for each in python recommenders; do \
		var/client/bin/python -m build --wheel --no-isolation --outdir var/wheels clients/$$each; done

notebooks: $(STAMP_SLOW) $(STAMP_KERNELS) ## Run the notebooks of the documentation on a site of their own, and keep what they show
	@PARALLAX_APPROVE=1 $(BIN)/python -m pytest -q tests/e2e/test_notebooks.py $(PYTEST_OPTIONS)

licences: $(STAMP) ## List the licences of the installed packages in var/licences.md
	@$(PYTHON) -m venv var/pip-licenses
	@var/pip-licenses/bin/$(PIP_INSTALL) pip-licenses==$(PIP_LICENSES)
	@var/pip-licenses/bin/pip-licenses --python $(BIN)/python --format markdown --output-file var/licences.md

# In an environment of its own: beside jsonschema, one of its packages makes every chart's first import take a second longer.
sbom: ## Write a software bill of materials (CycloneDX) into var/sbom.json
	@$(PYTHON) -m venv var/cyclonedx
	@var/cyclonedx/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom==$(CYCLONEDX)
	@var/cyclonedx/bin/cyclonedx-py requirements requirements.txt --output-reproducible --output-format JSON --output-file var/sbom.json

clean: ## Remove all that these commands made
	rm -rf $(VENV) var static/built node_modules mutants .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
