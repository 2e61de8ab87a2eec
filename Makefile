# Two commands on a fresh machine: `make demo` and `make test`.  They need Python ≥ 3.11.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Where torch is built for processors alone: what PyPI has for Linux brings CUDA, gigabytes of it.
# `make TORCH_INDEX= test` takes that one.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

.PHONY: demo test quick fresh engine bare hostile hostile-user container style lint docs generate lock audit bench mutation clean

demo: $(VENV)/engine
	$(BIN)/autograder demo

# What has passed, and can't have changed, is left out: tests/proved.py.  The engine is compiled once:
# hundreds of processes start, and where none may write bytecode each would compile it anew.  Tests
# write none: what is copied with it names the place that it was compiled at.
test: style
	$(BIN)/python -m compileall -q autograder
	PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -n auto --dist loadgroup --changed

# One look into every room, for before a small change is committed.
quick: style
	PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -n auto --dist loadgroup @tests/quick.txt

# What differs on a machine that has Python and nothing else, on one that has more.
bare: $(VENV)/ready
	.ci/bare

# What a newcomer does, in a fresh clone; `.ci/fresh bare` and `.ci/fresh user` for other machines.
fresh:
	.ci/fresh

# The engine's tests, in a copy that holds no course.
engine: $(VENV)/ready
	copy=$$(mktemp -d /var/tmp/engine.XXXXXX) && trap 'rm -rf "$$copy"' EXIT && \
	git ls-files -z -- ':!assignments' ':!reference' ':!release' | xargs -0 cp --parents -t "$$copy" && \
	cd "$$copy" && "$(abspath $(BIN))/python" -m pytest -n auto --dist loadgroup \
		--ignore tests/exercises --ignore tests/end_to_end --ignore tests/docs

# Once more where it may differ: newer Pythons, an ordinary user, tier A-.
hostile:
	.ci/hostile

# The hostile suite as an ordinary user, under tiers A- and B, as far as this machine gives them.
hostile-user: $(VENV)/ready
	.ci/hostile user

# The image for grader and worker, built and tried; docs/container.md.
container: $(VENV)/ready
	$(BIN)/python .ci/container.py

style: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint: style
	$(BIN)/autograder generate --check

# The site, in site/; a broken link is an error.
docs: $(VENV)/ready
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs/site . site
	@echo "open site/index.html"

generate: $(VENV)/ready
	$(BIN)/autograder generate

# After a change of constraints.txt: the hashes of what it pins.
lock: $(VENV)/ready
	$(BIN)/python .ci/lock.py

# Known vulnerabilities are looked up online; where that is impossible it says so.
audit: $(VENV)/ready
	$(BIN)/python .ci/audit.py

# For an idle machine; bench/README.md says how long each takes.
# OTTER_PYTHON names a Python with otter-grader, ANSWER_ROWS other systems' answer tests.
RESULTS = bench/results
bench: $(VENV)/ready
	$(BIN)/python bench/engine.py --out $(RESULTS)/engine.json
	$(BIN)/python bench/engine.py --modules numpy,sympy,torch --out $(RESULTS)/engine_torch.json
	$(BIN)/python bench/startup.py --out $(RESULTS)/startup.json
	$(BIN)/python bench/walk.py --out $(RESULTS)/walk.json
	$(BIN)/python bench/pipeline.py --out $(RESULTS)/pipeline.json
	$(BIN)/python bench/assignments.py --out $(RESULTS)/assignments.json
	$(BIN)/python bench/resubmission.py --out $(RESULTS)/resubmission.json
	$(BIN)/python bench/courses.py --out $(RESULTS)/courses.json
	$(BIN)/python bench/isolation.py --out $(RESULTS)/isolation.json
	$(BIN)/python bench/hostile.py --out $(RESULTS)/hostile.json
	$(BIN)/python bench/faults.py --out $(RESULTS)/faults.json
	$(BIN)/python bench/notebooks.py --assignments a01,a02,a03,a04,m01,m02 --out $(RESULTS)/notebooks.json
	$(BIN)/python bench/memory.py --out $(RESULTS)/memory.json
	$(BIN)/python bench/timing.py --out $(RESULTS)/timing.json
	$(BIN)/python bench/decoder.py --out $(RESULTS)/decoder.json
	$(BIN)/python bench/fuzz.py --out $(RESULTS)/fuzz.json
	$(BIN)/python bench/derivations.py --out $(RESULTS)/derivations.json
	$(BIN)/python bench/formulas.py --out $(RESULTS)/formulas.json
	$(BIN)/python bench/chance.py --out $(RESULTS)/chance.json
	OMP_NUM_THREADS=1 $(BIN)/python bench/training.py --out $(RESULTS)/training.json
	OMP_NUM_THREADS=1 $(BIN)/python bench/echo.py --out $(RESULTS)/echo.json
	$(BIN)/python bench/processors.py --out $(RESULTS)/processors.json
	$(BIN)/python bench/mutants.py --out $(RESULTS)/mutants.json
	$(MAKE) mutation
ifdef ANSWER_ROWS
	$(BIN)/python bench/algebra.py $(ANSWER_ROWS) --out $(RESULTS)/algebra.json
else
	@echo "bench/algebra.py was not run: it needs ANSWER_ROWS=FILE (see bench/README.md)"
endif

# Which slips go unpunished; `make mutation MUTATED=a03` for one assignment.
MUTATED = a01 a02 a03 a04 a05 a06 a07 a08 a09 a10 a11 a13 a14
mutation: $(VENV)/ready
	for a in $(MUTATED); do \
		OMP_NUM_THREADS=1 $(BIN)/python bench/mutation.py $$a --out $(RESULTS)/mutation_$$a.json || exit; \
	done

# The engine alone, which is all that the demo needs: no torch.
$(VENV)/engine: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e .
	touch $@

# With all that the course and its tests need.  Whoever has told pip of places of their own has torch
# there.
$(VENV)/ready: $(VENV)/engine
	if [ -n "$(TORCH_INDEX)" ] && ! $(BIN)/pip config list | grep -qE 'index|find-links'; then \
		PIP_EXTRA_INDEX_URL=$(TORCH_INDEX) $(BIN)/pip install --quiet -c constraints.txt torch; \
	fi
	$(BIN)/pip install --quiet -c constraints.txt -e .[test]
	touch $@

clean:
	rm -rf $(VENV) build site *.egg-info
