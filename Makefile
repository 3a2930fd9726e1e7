# `make demo` and `make test` do everything: set up .venv once, then run. Nothing is written outside this
# directory. Another interpreter: make PYTHON=python3.12 test. Fewer or other tests: make test ARGS='-k hooks'.

PYTHON ?= python3
ARGS ?=
MINORS ?=
ID ?=
FACET ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Stamps: the environment of this interpreter, what running needs, what developing needs, the wheels from which
# the tests install offline, and what benchmarks measure beside: Typer as it is installed today.
MADE := $(VENV)/made-by-$(subst /,_,$(PYTHON))
RUN := $(VENV)/run
DEV := $(VENV)/dev
WHEELS := $(VENV)/wheels
TODAY := $(VENV)/typer-of-today
SITE := $(VENV)/site
RELEASE := $(VENV)/release

.PHONY: demo test new-rule dist site fuzz referee conformance replay examine bench types fixtures lint format clean
.NOTPARALLEL:

demo: $(RUN)
	@$(BIN)/crdcompat demo

# Files in the order of their names: by their number of tests, the longest files would begin last, in one worker.
test: $(DEV) $(WHEELS)
	$(BIN)/python -m pytest -rfEs -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

# Stubs of a new rule, its facet and their tests, which fail until they are filled in: make new-rule ID=gap-widened
new-rule: $(DEV)
	@$(BIN)/python tests/support/new_rule.py '$(ID)' --facet '$(FACET)'

# What a release consists of, in dist/; ADDRESS is where the files will be, IMAGE=1 adds the container image (buildah or
# podman). The wheels of dependencies are those of the tests.
dist: $(RELEASE) $(WHEELS)
	$(BIN)/python release/build.py $(VENV)/wheelhouse $(if $(ADDRESS),--address '$(ADDRESS)') $(if $(IMAGE),--image)

# The documentation as a site in build/site: docs/, the README, and a page for each rule.
site: $(SITE)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "The site is in build/site: open build/site/index.html"

fuzz: $(DEV) $(WHEELS)
	CRDCOMPAT_FUZZ=20000 $(BIN)/python -m pytest -rfEs -n auto -o faulthandler_timeout=36000 $(ARGS) tests/fuzz tests/test_fuzz.py tests/test_wrong_types.py \
	  tests/test_hostile_trees.py tests/test_hostile_archives.py tests/schema/regex/test_hostile.py tests/compare/test_recall.py \
	  tests/compare/test_smallest_steps.py tests/conformance/test_equivalence_real.py \
	  tests/conformance/test_mutated_real.py tests/conformance/test_one_verdict.py tests/conformance/test_bystanders_real.py \
	  tests/conformance/test_matrix_real.py tests/conformance/test_crd_installs_real.py tests/conformance/test_suggest_patch_real.py \
	  tests/features/fleet/test_interrupted.py

# Real API servers and Helm for the tests, built from Go modules into the user's cache; MINORS="1.28 1.33" chooses.
referee: $(MADE)
	$(BIN)/python tests/conformance/referee_build.py $(MINORS)
	$(BIN)/python tests/conformance/helm_build.py

# The tests against the real thing: recorded answers, and the API servers that are built; MINORS chooses of these, too.
conformance: $(DEV)
	CRDCOMPAT_REFEREE="$(or $(MINORS),all)" $(BIN)/python -m pytest -rfEs -n auto --dist loadfile --no-loadscope-reorder $(ARGS) tests/conformance

# Merged pull requests of openshift/api, checked as CI would, beside what a reader judged; some: make replay ARGS=ID.
# Releases of other projects: make replay ARGS="--releases ../shared/data/projects/projects.bundle".
replay: $(DEV)
	$(BIN)/python tests/conformance/replay.py $(ARGS)

# An SMT solver asks about what a comparison says has no effect, or may have one; see tests/examine/examine.py.
examine: $(DEV)
	$(BIN)/python tests/examine/examine.py $(ARGS)

# Every program runs, also after one that is over its aim.
bench: $(DEV) $(TODAY)
	@$(BIN)/python benchmarks/measure.py $(ARGS); code=$$?; \
	for each in judge budgets growth facets page fleet; do $(BIN)/python benchmarks/$$each.py || code=1; done; exit $$code

types: $(DEV)
	$(BIN)/mypy

# The built-in story must end as it is told: the rollback is blocked, exit code 1.
fixtures: $(RUN)
	@$(BIN)/crdcompat diff fixtures/demo/release-4.13 fixtures/demo/release-4.14 -q; [ $$? = 1 ]

lint: types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist benchmarks/results.json
	find crdcompat tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "crdcompat needs Python 3.11 or later, but '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version) (once)..."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(RUN): pyproject.toml $(MADE)
	@echo "Installing crdcompat into $(VENV) (once)..."
	@$(PIP) install --editable .
	@touch $@

$(DEV): pyproject.toml $(MADE)
	@echo "Installing crdcompat and what its tests need into $(VENV) (once)..."
	@$(PIP) install --editable '.[dev]'
	@touch $@ $(RUN)

$(WHEELS): pyproject.toml $(MADE)
	@echo "Collecting the wheels that the tests install from (once)..."
	@rm -rf $(VENV)/wheelhouse
	@$(PIP) wheel --wheel-dir $(VENV)/wheelhouse '.[cluster]' hatchling
	@rm -f $(VENV)/wheelhouse/crdcompat-*
	@touch $@

$(SITE): pyproject.toml $(MADE)
	@echo "Installing crdcompat and MkDocs into $(VENV) (once)..."
	@$(PIP) install --editable '.[docs]'
	@touch $@ $(RUN)

$(RELEASE): pyproject.toml $(MADE)
	@echo "Installing crdcompat and what builds a release into $(VENV) (once)..."
	@$(PIP) install --editable '.[release]'
	@touch $@ $(RUN)

$(TODAY): $(MADE)
	@$(PIP) install --target $@ --upgrade --no-warn-conflicts typer
	@touch $@
