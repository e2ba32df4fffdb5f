# make book     set up (once) and build the book; EDITION=reader, instructor or student
# make test     set up (once) and run every test
# make lab      open the notebooks in JupyterLab
# make pdf      print the book with Chromium
# make notebooks     run the notebooks again and store their outputs
# make requirements  lock the newest allowed versions in requirements.txt
# make clean    remove everything that was built

PYTHON ?= python3
EDITION ?= reader
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/ready
# Each edition has a folder of its own, so that none finds another one's leftovers.
OUTPUT := $(if $(filter reader,$(EDITION)),.,_build/$(EDITION))
BUILD := JUDGELAB_EDITION=$(EDITION) $(BIN)/jupyter-book build . --path-output $(OUTPUT) --warningiserror --keep-going --quiet

.PHONY: book test lab pdf notebooks requirements clean

book: $(READY)
	$(BUILD)

test: $(READY)
	CHROMIUM="$(CHROMIUM)" $(BIN)/python -m pytest --numprocesses auto --dist loadscope --no-loadscope-reorder $(ARGS)

lab: $(READY)
	$(BIN)/jupyter lab notebooks

pdf: $(READY)
	@test -n "$(CHROMIUM)" || { echo "make pdf prints with Chromium: install it, or name it: make pdf CHROMIUM=/path/to/it"; exit 1; }
	$(BUILD) --builder singlehtml
	"$(CHROMIUM)" --headless --no-sandbox --log-level=3 --no-pdf-header-footer --generate-pdf-document-outline --virtual-time-budget=30000 \
	  --print-to-pdf=_build/judgelab-$(EDITION).pdf "file://$(abspath $(OUTPUT))/_build/singlehtml/index.html"

notebooks: $(READY)
	$(BIN)/python -m judgelab.teach.refresh notebooks/*.ipynb

requirements: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --extra book --extra test --universal --fork-strategy fewest \
	  --python-version 3.11 --upgrade --output-file requirements.txt > $(VENV)/lock.log
	# Without --upgrade: the engine of the small judge stays the one that its replies were recorded with.
	$(BIN)/uv pip compile pyproject.toml --extra local --extra cluster --constraint requirements.txt --universal \
	  --fork-strategy fewest --python-version 3.11 --no-annotate --output-file tests/requirements-extras.txt > $(VENV)/lock.log

clean:
	rm -rf _build $(VENV)

$(READY): requirements.txt pyproject.toml judgelab/_kernel/count.c
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'judgelab needs Python 3.11 or newer: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
