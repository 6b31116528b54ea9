# `make help` lists what there is. Every target sets up what it needs, once.
# The environments: .venv/book for `make book` and `make serve` (no torch, no SymPy), .venv/test for the rest.

PORT ?= 8000
ORDERS ?= 3
SALTS ?= 10
DRAWS ?= 20
FIRST ?= 1
# Files that are tested at a time: as many as there are processors, four at most, for each holds PyTorch.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); test "$$n" -lt 4 && echo "$$n" || echo 4)
# The first interpreter of this machine that will do; `make PYTHON=python3.12 …` chooses another.
WILL_DO := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
  if $$python -c '$(WILL_DO)' 2>/dev/null; then echo $$python; break; fi; done)
endif

# An environment stands in a folder named after its interpreter and its pins. A new one is made beside the old
# one, and the link .venv/test (or .venv/book) is moved to it when it works.
VERSION := $(if $(PYTHON),$(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null))
ready = .venv/$(1)-$(VERSION)-$(firstword $(shell cksum < $(2)))/.ready
TEST := .venv/test
TEST_READY := $(call ready,test,requirements.txt)
# Where the larger environment stands already, it builds the book as well.
ifneq ($(wildcard $(TEST_READY)),)
BOOK := $(TEST)
BOOK_READY := $(TEST_READY)
else
BOOK := .venv/book
BOOK_READY := $(call ready,book,requirements-book.txt)
endif
PYTEST := $(TEST)/bin/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -rfEs
NOTEBOOKS := --nbval
DOCTESTS := --doctest-modules src/verified_transformer experiments packages book/_ext
COMMAND := -m verified_transformer
# A machine with a GPU has torch, SciPy, matplotlib and the Hugging Face hub; what else notebooks need travels along.
DEVICE ?= cuda
FINER ?= 1
BUDGET ?= 420
GPU = $(COMMAND) evidence --device $(DEVICE) --finer $(FINER) --budget $(BUDGET) --jobs $(WORKERS) $(SOME)
WHEELS_FOR ?= 3.12
WHEELS := asttokens|comm|executing|fastjsonschema|ipykernel|ipython|ipython_pygments_lexers|jsonschema|$\
jsonschema-specifications|jupyter_client|jupyter_core|lazy_loader|matplotlib-inline|nbclient|nbformat|nest-asyncio2|$\
pexpect|platformdirs|prompt_toolkit|ptyprocess|pure_eval|python-flint|pyzmq|referencing|rpds-py|stack-data|sympy|tornado|traitlets|$\
transformers|wcwidth
RECORDINGS := $(sort $(patsubst experiments/long_runs/recordings/%.json,%,$(wildcard experiments/long_runs/recordings/*.json)))
# The files of tests, shuffled by a number.
SHUFFLED := $(TEST)/bin/python -c 'import pathlib, random, sys; random.seed(sys.argv[1]); \
  files = sorted(map(str, (f for d in ("tests", "packages") for f in pathlib.Path(d).rglob("test_*.py")))); random.shuffle(files); print(*files)'
SOME := $(if $(NOTEBOOK),$(NOTEBOOK),$(if $(CHAPTER),$(sort $(wildcard notebooks/$(CHAPTER)-*/*.ipynb))))

SOURCES := $(CURDIR)/src:$(CURDIR)/experiments:$(CURDIR)/packages/weightwise/src:$(CURDIR)/packages/verifiedbook/src
export PYTHONPATH := $(SOURCES)
# For a class: pages that judge answers and hold no solution, in a folder of their own.
COURSE := $(filter off,$(SOLUTIONS))
BUILT := $(if $(COURSE),_build/course/_build,_build)
export SOLUTIONS
export REASON
export RUN
# One notebook runs for each processor; kernels with more threads than that wait for each other.
OMP_NUM_THREADS ?= 1
export OMP_NUM_THREADS

.PHONY: help nightly elsewhere tried newest live-outputs install book kernel pdf links serve check format lint test claims lock release verify refresh owners record evidence evidence-wheels portable fresh-seeds bench times sources publish-colab form own-words mutants canaries browser chapter named clean proofs digits
.DEFAULT_GOAL := book

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "  make %-13s %s\n", $$1, $$2}'
	@echo "  NOTEBOOK=notebooks/…/x.ipynb or CHAPTER=1 limits test, refresh, evidence, portable, newest and fresh-seeds."

# After a build that failed all is read again: what it warned of would pass otherwise.
book: kernel ## build the pages that changed, from the stored outputs (installs no torch); ALL=1: all; SOLUTIONS=off: for a class
	@test -e $(BUILT)/.sound || rm -rf $(BUILT)/.doctrees; rm -f $(BUILT)/.sound
	$(BOOK)/bin/jupyter-book build . $(if $(COURSE),--path-output _build/course )$(if $(ALL),--all )-n -W --keep-going
	@touch $(BUILT)/.sound
	@echo
	@echo "Open $(CURDIR)/$(BUILT)/html/index.html"

kernel: $(BOOK_READY) ## fetch Python and SymPy for cells that run in the page, where they can be had
	@$(BOOK)/bin/python book/_ext/run_here.py

links: $(BOOK_READY) ## ask every external link of the book whether it is still there
	$(BOOK)/bin/jupyter-book build . --builder linkcheck

pdf: book browser $(TEST_READY) ## print the whole book as one PDF, with an outline and page numbers
	$(TEST)/bin/python $(COMMAND) pdf --built $(BUILT)

serve: $(BOOK_READY) ## show the pages on localhost, PORT=8000
	@test -f $(BUILT)/html/index.html || $(MAKE) book
	@echo "http://localhost:$(PORT)/ (Ctrl-C stops)"
	@$(BOOK)/bin/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(BUILT)/html

lint: $(TEST_READY)
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check . $(sort $(wildcard notebooks/*/*.ipynb))
	$(TEST)/bin/mypy

format: $(TEST_READY) ## format code and the notebooks' cells
	$(TEST)/bin/ruff format .
	$(TEST)/bin/python $(COMMAND) format-cells

check: lint ## format, lint, types and unit tests: the loop while writing
	$(PYTEST) -m "not slow and not nightly" $(DOCTESTS) tests

ifneq ($(strip $(NOTEBOOK)$(CHAPTER)),)
test: chapter $(TEST_READY)
	$(PYTEST) $(NOTEBOOKS) $(SOME)
else
test: lint browser ## every gate: unit tests, every notebook run afresh, the pages in a browser; CHANGED=1: what a change can reach since all passed
	$(PYTEST) -m "not nightly" $(NOTEBOOKS) $(DOCTESTS) tests notebooks$(if $(CHANGED), --changed)
endif

nightly: kernel browser $(TEST_READY) ## what `make test` leaves out, the second book, notebooks that train under 2 orders of summation, a part of each recording again, unit tests in ORDERS=3 random orders
	$(PYTEST) -m nightly tests
	PYTHONPATH=$(CURDIR)/packages/verifiedbook/src $(MAKE) -C examples/rectifiers test PYTHON=$(CURDIR)/$(TEST)/bin/python
	$(TEST)/bin/python $(COMMAND) portable --trained --draws 2
	@for name in $(RECORDINGS); do $(TEST)/bin/python $(COMMAND) record $$name --again || exit 1; done
	@for order in $$(seq $(ORDERS)); do \
	  echo "random order $$order"; \
	  $(PYTEST) -m "not slow and not nightly" $$($(SHUFFLED) $$order) || exit 1; \
	done

elsewhere: $(TEST_READY) ## `make test` in a fresh clone, as on a machine that nobody has seen: ELSEWHERE=3 draws the same one again
	@$(TEST)/bin/python tests/elsewhere.py $(if $(ELSEWHERE),--draw $(ELSEWHERE)) \
	  $(if $(ENVIRONMENT),--environment $(ENVIRONMENT)) $(if $(filter command environment,$(firstword $(origin PYTHON))),--python $(PYTHON))

tried: $(TEST_READY) ## WHERE="no network" RUN="…": run that here, and keep for the status page what came of it
	@$(TEST)/bin/python tests/elsewhere.py --where "$(WHERE)" --run "$$RUN"

claims: $(BOOK_READY) ## write _build/claims.json; fail where a verdict is not as locked
	$(BOOK)/bin/python $(COMMAND) claims

lock: $(BOOK_READY) ## REASON="…": renew the lock on what is said and decided
	@$(BOOK)/bin/python $(COMMAND) lock --reason "$$REASON" $(if $(DATE),--date $(DATE))

release: $(BOOK_READY) ## keep the lock as published; later ones may hide nothing of it
	@$(BOOK)/bin/python $(COMMAND) release

verify: named $(TEST_READY) ## CLAIM=LOSS-14: run one claim afresh and compare it with what is stored
	$(TEST)/bin/python $(COMMAND) verify $(CLAIM)

refresh: chapter $(TEST_READY) ## run notebooks, store their outputs, show every change
	$(TEST)/bin/python $(COMMAND) refresh $(if $(filter-out file,$(origin DRAWS)),--draws $(DRAWS)) $(SOME)

owners: chapter $(TEST_READY) ## write the owners beside texts in their order, what can be found filled in
	$(TEST)/bin/python $(COMMAND) owners $(SOME)

own-words: chapter $(TEST_READY) ## write what decides the book's own words beside their texts, what is known kept
	$(TEST)/bin/python $(COMMAND) own-words $(SOME)

record: named $(TEST_READY) ## NAME=…: run a long experiment of experiments/ and keep its result
	$(TEST)/bin/python $(COMMAND) record $(NAME)

portable: chapter $(TEST_READY) ## run notebooks under other instruction sets, threads, hash seeds, and DRAWS=20 orders of summation
	$(TEST)/bin/python $(COMMAND) portable --draws $(DRAWS) $(SOME)

newest: chapter $(TEST_READY) ## unit tests of models, and notebooks, with the newest torch, SymPy and transformers: what moved, by claim
	@mkdir -p _build && grep -vE '^(torch|sympy|transformers)==' requirements.txt > _build/newest.txt
	$(PYTHON) -m venv --clear .venv/newest
	.venv/newest/bin/python -m pip install --quiet -r _build/newest.txt
	.venv/newest/bin/python -m pip install --quiet torch sympy transformers
	@red=0; .venv/newest/bin/python -m pytest -n $(WORKERS) --dist loadfile -rfE tests/models || red=1; \
	  .venv/newest/bin/python $(COMMAND) newest --jobs $(WORKERS) $(SOME) || red=1; exit $$red

fresh-seeds: chapter $(TEST_READY) ## run notebooks under SALTS=10 other seeds from FIRST=1 on, and add them up
	$(TEST)/bin/python $(COMMAND) fresh-seeds --salts $(SALTS) --first $(FIRST) $(SOME)

# Wheels in _build/wheels are put beside the interpreter and its torch, where there is no network.
evidence: chapter $(if $(wildcard _build/wheels),,$(TEST_READY)) ## run notebooks on a GPU; goes on where it stopped: DEVICE=cuda FINER=1 BUDGET=420
ifneq ($(wildcard _build/wheels),)
	@test -d _build/site || $(PYTHON) -m pip install -q --no-index --no-deps --target _build/site _build/wheels/*.whl
	PYTHONPATH=$(SOURCES):$(CURDIR)/_build/site $(PYTHON) $(GPU)
else
	$(TEST)/bin/python $(GPU)
endif

evidence-wheels: ## fetch what `make evidence` needs beside torch, for a machine without network: WHEELS_FOR=3.12
	@rm -rf _build/wheels _build/site && mkdir -p _build/wheels
	grep -ixE '($(WHEELS))==.*' requirements.txt > _build/wheels.txt
	$(PYTHON) -m pip download -q --no-deps --only-binary=:all: --python-version $(WHEELS_FOR) --implementation cp \
	  $(patsubst %,--platform manylinux_2_%_x86_64,17 24 26 27 28) --platform manylinux2014_x86_64 -d _build/wheels -r _build/wheels.txt
	@du -sh _build/wheels

bench: $(TEST_READY) ## time the library beside the plain way to the same thing, in one run: PART=tables
	$(TEST)/bin/python bench/side_by_side.py $(PART)

times: $(TEST_READY) ## keep where the time of the last whole make test went, for the status page
	$(TEST)/bin/python $(COMMAND) times

digits: $(TEST_READY) ## certify every printed number by a ball, and keep how many there are, for the pages
	$(TEST)/bin/python $(COMMAND) digits

sources: $(TEST_READY) ## look up what is quoted from code in the releases that have it (needs the network)
	$(TEST)/bin/python $(COMMAND) sources

publish-colab: $(BOOK_READY) ## write the branch that rockets open: notebooks that install the last commit
	$(BOOK)/bin/python $(COMMAND) publish-colab $(if $(SERVED),--served $(SERVED)) $(if $(SOLUTIONS),--solutions $(SOLUTIONS))

form: $(TEST_READY) ## tag, title and fold the notebooks' cells by what they are for
	$(TEST)/bin/python $(COMMAND) form

live-outputs: $(TEST_READY) ## write the present script of live figures into stored outputs
	$(TEST)/bin/python -m verifiedbook.live_figures $(sort $(wildcard notebooks/*/*.ipynb))

mutants: $(TEST_READY) ## faults at random, and what sees them: KIND=prose N=60 CHAPTER=3 SALT=…
	PYTHONPATH=$(SOURCES):$(CURDIR)/tests $(TEST)/bin/python -m mutation \
	  $(if $(KIND),--kind $(KIND)) $(if $(N),--n $(N)) $(if $(CHAPTER),--chapter $(CHAPTER)) $(if $(SALT),--salt $(SALT))

proofs: $(if $(SHOW),,rocq) $(TEST_READY) ## have the kernel check proofs/ and keep what it found; SHOW=LOSS-14: statement, hypotheses, axioms
ifdef SHOW
	@$(TEST)/bin/python proofs/check.py --show $(SHOW)
else
	@if command -v coqc >/dev/null; then $(TEST)/bin/python proofs/check.py; else $(TEST)/bin/python proofs/check.py --cheap; fi
endif

canaries: $(TEST_READY) ## count the known-bad inputs of each file anew: there may be more, and not fewer
	$(TEST)/bin/python -m pytest -n 0 -q --collect-only -m "canary and not nightly" tests packages | grep :: | cut -d : -f 1 | LC_ALL=C sort | uniq -c > tests/canaries/counts.txt

chapter:
	@test -z "$(CHAPTER)" || ls -d notebooks/$(CHAPTER)-* >/dev/null 2>&1 || { \
	  echo "CHAPTER=$(CHAPTER): there is none; accepted:" $(sort $(foreach c,$(wildcard notebooks/*-*),$(firstword $(subst -, ,$(notdir $c)))));\
	  exit 1; }

	@for file in $(NOTEBOOK); do test -f "$$file" || { \
	  echo "NOTEBOOK=$$file: there is none; accepted: paths such as $(firstword $(wildcard notebooks/*/*.ipynb))"; exit 1; }; done

named:
	@test -n "$(CLAIM)$(NAME)" || { \
	  echo "Which? make verify CLAIM=LOSS-14, or make record NAME=…, one of: $(RECORDINGS)"; \
	  exit 1; }

# The browser test wants a chromium: installed where this runs as root on Debian; elsewhere it says so.
browser:
	@if { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing chromium for the browser test"; \
	  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y chromium; } >/dev/null \
	    || echo "chromium could not be installed: the browser test will be skipped"; \
	else echo "No chromium, and no root on Debian to install it: the browser test will be skipped"; fi

# The kernel: installed where this runs as root on Debian; elsewhere it says so.
rocq:
	@if command -v coqc >/dev/null && test -d "$$(coqc -where)/user-contrib/Coquelicot"; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing Rocq for the proofs"; \
	  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y coq libcoq-coquelicot; } >/dev/null \
	    || echo "Rocq could not be installed: the kernel run is skipped"; \
	else echo "No Rocq with Coquelicot, and no root on Debian to install it: the kernel run is skipped"; fi

install: $(TEST_READY) $(BOOK_READY) ## set up both environments; with -j2 at the same time

.venv/test-%/.ready: PINS := requirements.txt
.venv/test-%/.ready: LINK := test
.venv/book-%/.ready: PINS := requirements-book.txt
.venv/book-%/.ready: LINK := book
$(sort $(TEST_READY) $(BOOK_READY)):
	@$(or $(PYTHON),false) -c '$(WILL_DO)' \
	  || { echo "Python 3.11, 3.12, 3.13 or 3.14 is needed; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(@D) (once; about a minute)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --disable-pip-version-check --quiet -r $(PINS)
	@$(@D)/bin/python -m pip check --disable-pip-version-check
	@for old in .venv/$(LINK) .venv/$(LINK)-*; do \
	  test "$$old" = "$(@D)" || { test -d "$$old" && rm -rf "$$old"; } || true; done
	@ln -sfn $(notdir $(@D)) .venv/$(LINK)
	@touch $@

clean: ## remove what was built (the environments stay)
	rm -rf _build
