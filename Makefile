# Two commands on a fresh machine: `make demo` and `make test`.  They need Python ≥ 3.11.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint generate bench clean

demo: $(VENV)/ready
	$(BIN)/autograder demo

test: lint
	$(BIN)/pytest -n auto --dist loadgroup

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/autograder generate --check

generate: $(VENV)/ready
	$(BIN)/autograder generate

bench: $(VENV)/ready
	$(BIN)/python bench/engine.py --out bench/results/engine.json
	$(BIN)/python bench/engine.py --modules numpy,sympy,torch --out bench/results/engine_torch.json
	$(BIN)/python bench/decoder.py --out bench/results/decoder.json
	$(BIN)/python bench/pipeline.py --out bench/results/pipeline.json
	$(BIN)/python bench/timing.py --out bench/results/timing.json
	$(BIN)/python bench/startup.py --out bench/results/startup.json
	$(BIN)/python bench/mutation.py a02 --out bench/results/mutation_a02.json

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e .[test]
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info
