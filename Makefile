# `make demo` needs python3 (3.11 or later, with venv) and make. Everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint build clean

demo: .venv/run.stamp
	$(BIN)/shardc build
	$(BIN)/python -m scripts.demo

test: .venv/dev.stamp
	$(BIN)/pytest -n auto

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
