# Every target sets up .venv by itself; only Python 3.11 or newer and make are needed.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
            $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
WORKERS ?= 2
export MPLBACKEND = Agg

.PHONY: help demo test chromium lint bench bench-loops bench-limits choose reproduce docs soak attack matrix zoo wheel clean

help:    ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: .venv/demo.stamp    ## an hour of a chain under three integrators: a table, out/hour.png and out/chain.gif
	$(BIN)/leastaction demo --out out

test: lint chromium    ## lint, types, layers, then every test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) tests/kernels --ignore tests/kernels/constraints
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

chromium:    ## Chromium for the browser tests, where it may be installed
	@sh tools/install_chromium.sh

lint: .venv/dev.stamp    ## ruff, mypy and the import layers
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/peers.stamp    ## time every step, beside the peers; OPTIONS=--quick for two minutes of it
	$(BIN)/python -m benchmarks $(OPTIONS)

bench-loops: .venv/peers.stamp    ## closed loops: a four-bar beside the peers, ladders; the tables of docs/performance.md
	$(BIN)/python -m benchmarks.loops $(OPTIONS)

bench-limits: .venv/peers.stamp    ## an arm against its stops beside MuJoCo; the table of docs/performance.md
	$(BIN)/python -m benchmarks.limits $(OPTIONS)

choose: .venv/peers.stamp    ## which order, step, root finder and guess for which problem: the tables of docs/choosing.md
	$(BIN)/python -m benchmarks.choosing $(OPTIONS)

reproduce: .venv/demo.stamp    ## every figure and number of the paper, into docs/paper.md and the README
	$(BIN)/leastaction reproduce --publish .

docs: .venv/docs.stamp    ## the site, in out/docs/index.html; runs the examples for its gallery
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs out/docs

soak: .venv/dev.stamp    ## the tests that run for a long time
	$(BIN)/python -m pytest -m soak

attack: .venv/dev.stamp    ## bad input, damaged files, kills, probes; the table of docs/reliability.md; SEED=7 repeats one
	$(BIN)/python tools/attack.py --seed "$(SEED)"

matrix:    ## a part of the tests on Python 3.11 to 3.14, with the lowest and newest versions; OPTIONS='--python 3.12'
	PYTHONPATH=src $(PYTHON) tools/matrix.py --publish docs/portability.md $(OPTIONS)

zoo: .venv/dev.stamp    ## load every robot of three packages, compare with the peers, write the tables of docs/models.md
	$(BIN)/python -m pip install --quiet --editable '.[zoo]'
	$(BIN)/python -m leastaction.formats.zoo docs/models.md
	$(BIN)/python -m pytest tests/formats/test_peers.py

wheel: .venv/release.stamp    ## build, check and try the wheel in a clean environment; list what is left to fill in
	$(BIN)/python tools/make_wheel.py

clean:    ## remove the environment, the output and the caches
	rm -rf .venv out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it with make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[cli]'
	touch $@

.venv/dev.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ .venv/demo.stamp

.venv/peers.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,peers]'
	touch $@ .venv/demo.stamp

.venv/docs.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@ .venv/demo.stamp

.venv/release.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'check-wheel-contents>=0.6' 'twine>=6.1'
	touch $@
