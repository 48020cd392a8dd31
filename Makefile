# What a developer types is what CI runs. Each target installs what it needs into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Lists the targets: the comment after ## on a target's line.
help: ## list the targets (default)
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:[^#]*## /|/' | awk -F'|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

.PHONY: help docs demo test test-portable test-checked test-browser test-container test-feast test-recipes fuzz fuzz-service check bench bench-cold bench-service bench-tool bench-large bench-ray compare wheel format clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per extra: pyproject.toml is the only place that names dependencies. The package is built again if a
# kernel has changed, which takes seconds.
KERNELS := CMakeLists.txt $(shell find src -name '*kernel*.py' -o -name '*kernel*.pxd')
$(VENV)/installed-%: pyproject.toml $(KERNELS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

demo: $(VENV)/installed-demo ## fit a staged model on data that comes with scikit-learn; results in output/
	$(BIN)/python -m budgetprune.demo --out output

# Two test processes share the cores, so threads that have nothing to do must not spin.
test: export OMP_WAIT_POLICY = passive
test: $(VENV)/installed-test ## run all tests, then the small ones again with uncompiled kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile
	BUDGETPRUNE_UNCOMPILED=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m uncompiled

# As other machines would run them: instruction sets, threads, load, order, oldest and newest dependencies.
# Takes about an hour; ONLY="sse oldest" runs some of it.
test-portable: $(VENV)/installed-test ## run all tests as on other machines; about an hour
	$(BIN)/python -m tests.portable $(ONLY)

# A build for tests, whose kernels check the bounds of every array.
CHECKED := output/checked
$(CHECKED)/built: $(KERNELS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(CHECKED) \
		-C cmake.define.BUDGETPRUNE_CHECK_BOUNDS=ON -C build-dir=build/checked .
	@touch $@

test-checked: export BUDGETPRUNE_KERNELS = $(abspath $(CHECKED))
test-checked: $(VENV)/installed-test $(CHECKED)/built ## run all tests with kernels that check the bounds of arrays
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The report page in a real Chromium, which is found or fetched; `make test` does the same if there is one.
test-browser: export BUDGETPRUNE_BROWSER_TESTS = required
test-browser: $(VENV)/installed-test ## test the report page in a real Chromium
	$(BIN)/python -m tests.report.browser
	$(BIN)/python -m pytest tests/report/test_browser.py tests/report/test_staged_browser.py \
		tests/report/test_compare_browser.py tests/report/test_accessibility.py

# A real store of Feast, which needs pandas 2, in an environment of its own.
test-feast: $(VENV)-feast/installed-feast ## test the adapter of Feast with a local store
	$(VENV)-feast/bin/python -m pytest tests/test_feast.py
$(VENV)-feast/installed-feast: pyproject.toml $(KERNELS)
	$(PYTHON) -m venv $(VENV)-feast
	$(VENV)-feast/bin/python -m pip install --quiet --editable '.[feast]' pytest
	@touch $@

# The steps of the Dockerfile, without an engine: packages are downloaded into a temporary folder.
test-container: $(VENV)/installed-test ## run the steps of the Dockerfile; downloads packages
	$(BIN)/python -m tests.container

# Damaged and hostile inputs, CASES for each fuzzer, which takes minutes: the tests try a few of each.
CASES ?= 20000
# A conversation with the service is slow, because timeouts are part of it.
CONNECTION_CASES = $$(($(CASES) / 100 + 1))
fuzz: export BUDGETPRUNE_KERNELS = $(abspath $(CHECKED))
fuzz: $(VENV)/installed-test $(CHECKED)/built ## read damaged files, models and connections (CASES=20000)
	$(BIN)/python -m tests.persistence.fuzz_model_file --cases $(CASES)
	$(BIN)/python -m tests.staged.fuzz_staged_file --cases $(CASES)
	$(BIN)/python -m tests.path.fuzz_path_file --cases $(CASES)
	$(BIN)/python -m tests.path.fuzz_npz --cases $(CASES)
	$(BIN)/python -m tests.forest.adapters.fuzz_importers --cases $(CASES)
	$(BIN)/python -m tests.service.fuzz_connections --cases $(CONNECTION_CASES)

# A few hundred requests to every endpoint, other ones each time, and odd connections.
fuzz-service: export BUDGETPRUNE_FUZZ ?= 300
fuzz-service: $(VENV)/installed-test ## send broken requests to the service
	$(BIN)/python -m pytest tests/service/test_fuzz_requests.py
	$(BIN)/python -m tests.service.fuzz_connections --cases $(CONNECTION_CASES)

check: $(VENV)/installed-check ## ruff, ruff format, mypy (strict), import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-check ## fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Warnings are errors. No network access is needed once the extra is installed.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/installed-docs ## build the documentation site into output/site
	$(BIN)/python -m mkdocs build --strict

bench: $(VENV)/installed-bench ## speed and memory, as ratios measured in one run
	$(BIN)/python -m benchmarks

bench-cold: $(VENV)/installed-bench ## first calls in a fresh environment: processor time, memory, size
	$(BIN)/python -m benchmarks.cold

bench-service: $(VENV)/installed-bench ## speed of the HTTP service
	$(BIN)/python -m benchmarks.service

test-recipes: $(VENV)/installed-test $(VENV)/installed-recipes ## run the recipes for Dask and Spark (needs Java)
	$(BIN)/python -m pytest tests/workflow/test_recipes.py

# From a CSV file of 20 MB to a model within budget, against training the forest alone.
bench-tool: $(VENV)/installed-bench ## from a CSV file of 20 MB to a model, against training the forest alone
	$(BIN)/python -m benchmarks.tool

bench-ray: $(VENV)/installed-bench $(VENV)/installed-ray ## distributed rows and predictions on a local Ray cluster
	$(BIN)/python -m benchmarks.distributed

bench-large: $(VENV)/installed-bench ## the path on as many rows and features as Yahoo! LTR has
	$(BIN)/python -m benchmarks --large --out output/bench-large.json

# Accuracy for cost on real and on made data sets, five seeds, and the time of staged models on a quiet machine:
# takes hours, and goes on where it was stopped.
compare: $(VENV)/installed-bench ## accuracy for cost on data sets, five seeds; takes hours, can be resumed
	$(BIN)/python -m benchmarks.compare

# Wheels for other systems and versions of Python are built by cibuildwheel; its settings are in pyproject.toml.
wheel: $(VENV)/installed-wheel ## build a wheel into dist, and test it in a clean environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m tests.wheel dist

clean: ## remove .venv, output and caches
	rm -rf $(VENV) output build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
