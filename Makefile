# Two commands matter: `make report` and `make test`. Both build .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NOTEBOOKS := $(wildcard notebooks/[0-9]*.py notebooks/decks/*.py)

# Python keeps its bytecode here, whatever the shell says: without it each process compiles every module again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: report test test-long lint wheel release release-checks try-release table schema golden prove notebooks labs docs museum scoreboard claims limits bench figures calibrate clean

report: $(VENV)/.installed
	$(BIN)/python -m audit run

# Processes that keep the memory of arrays that are gone spare the kernel from clearing it anew, a quarter of the time of tests of
# large laws. Read by the GNU C library and by numpy; the workers of an audit do so by themselves.
test test-long notebooks prove: export MALLOC_MMAP_MAX_ := 0
test test-long notebooks prove: export MALLOC_TRIM_THRESHOLD_ := 2147483647
test test-long notebooks prove: export NUMPY_MADVISE_HUGEPAGE := 0

# The files with few and long tests come first, in their own order: sorted by their number of tests they would come last,
# and one processor would wait for them.
# The lint and the wheel take what the tests leave of the processors. What they print is shown last, where one of them fails.
WORKERS := --numprocesses auto --dist loadfile --no-loadscope-reorder
test: $(VENV)/.installed-test
	@mkdir -p build
	@$(MAKE_COMMAND) lint wheel > build/lint-and-wheel.txt 2>&1 & others=$$!; \
	$(BIN)/python -m pytest $(WORKERS) -m "not long"; tests=$$?; \
	wait $$others && echo "lint and wheel pass" || { cat build/lint-and-wheel.txt; exit 1; }; exit $$tests

# The tests of tests/long.txt. Their last result is kept in tests/long_result.txt.
test-long: $(VENV)/.installed-test
	@mkdir -p build && rm -f build/long.status
	@{ $(BIN)/python -m pytest $(WORKERS) -m long; echo $$? > build/long.status; } | tee build/long.txt; \
	{ echo "commit `git describe --always --dirty --exclude '*'`, `date -u +%F`, `$(BIN)/python -V`"; tail -n 1 build/long.txt; } \
		> tests/long_result.txt; exit `cat build/long.status || echo 1`

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The wheel must stand alone: installed in an empty environment, it audits from an empty folder, and from one with folders of
# the same names as ours. It is built from the sdist, and the same to the byte as that of the checkout.
wheel: $(VENV)/.installed-test
	rm -rf build/wheel && mkdir -p build/wheel/empty
	$(BIN)/python -m build --no-isolation --outdir build/wheel .
	$(BIN)/python -m build --no-isolation --wheel --outdir build/wheel/checkout .
	cmp build/wheel/*.whl build/wheel/checkout/*.whl
	$(PYTHON) -m venv --without-pip build/wheel/venv
	$(BIN)/python -m pip --python build/wheel/venv install --quiet --disable-pip-version-check --no-compile build/wheel/*.whl
	cd build/wheel/empty && ../venv/bin/subnormal --version && ../venv/bin/subnormal list > members-and-attacks.txt
	cd build/wheel/empty && ../venv/bin/subnormal run --attack zero-rounding --attack rejection-tries --quick --runs 1000
	cd build/wheel/empty && ../venv/bin/subnormal compose --gaussian 1 --runs 8 --buckets 100
	cd build/wheel/empty && ../venv/bin/subnormal compare reports/report.json reports/report.json
	mkdir -p build/wheel/own/audit build/wheel/own/attacks build/wheel/own/mechanisms
	cd build/wheel/own && for name in audit attacks mechanisms; do echo 'OWN = True' > $$name/__init__.py; done
	cd build/wheel/own && ../venv/bin/subnormal run --attack zero-rounding --quick
	cd build/wheel/empty && ../venv/bin/python -c \
		'from importlib.util import find_spec; assert not any(map(find_spec, ("audit", "attacks", "mechanisms")))'
	cd build/wheel/own && ../venv/bin/python -c \
		'import attacks, audit, mechanisms, subnormal; assert attacks.OWN and audit.OWN and mechanisms.OWN; subnormal.assert_private'
	cd build/wheel/empty && page=$$(../venv/bin/subnormal explore --path) && test -s "$$page" && echo "$$page" | grep site-packages
	test -s build/wheel/venv/lib/python3.*/site-packages/subnormal/audit/report.schema.json
	test -f build/wheel/venv/lib/python3.*/site-packages/subnormal/py.typed

# What a release needs, as far as no person must act: make release VERSION=0.3.0. It ends with what a person does then.
PYTHONS := python3.11 python3.12 python3.13 python3.14
release-checks:
	@test -n "$(VERSION)" || { echo "name the version: make release VERSION=x.y.z"; exit 1; }
	@grep -qxF 'version = "$(VERSION)"' pyproject.toml \
		|| { echo "VERSION is $(VERSION), and pyproject.toml has `grep '^version' pyproject.toml`"; exit 1; }
	@! grep -qx '## Unreleased' CHANGELOG.md || { echo "CHANGELOG.md has lines under Unreleased: give them the version and the date"; exit 1; }
	@test -z "`git status --porcelain`" || { git status --short; echo "commit or remove these first"; exit 1; }

release: release-checks $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -n0 tests/acceptance/test_release.py
	$(MAKE) test
	rm -rf dist build/release && mkdir -p dist build/release
	cp build/wheel/*.tar.gz build/wheel/*.whl dist
	$(PYTHON) -m venv build/release/twine && build/release/twine/bin/python -m pip install --quiet twine
	build/release/twine/bin/twine check --strict dist/*
	@for python in $(PYTHONS); do \
		$$python -c '' 2>/dev/null || { echo "$$python: not here, so not tried"; continue; }; \
		$(MAKE) try-release TRIED=$$python || exit 1; done
	$(BIN)/python -m pip hash dist/*
	@echo && sed -n '/^`make release` has tried/,$$p' CONTRIBUTING.md | sed 's/VERSION/$(VERSION)/g'

# README's first example, from an index of the files in dist/, in an empty environment of the interpreter TRIED.
try-release:
	rm -rf build/release/$(TRIED) && $(TRIED) -m venv build/release/$(TRIED)
	build/release/$(TRIED)/bin/python -m pip install --quiet --find-links dist subnormal==$(VERSION)
	cp README.md build/release/$(TRIED)/ && cd build/release/$(TRIED) && bin/python -m doctest README.md && bin/subnormal --version

# Run every notebook's source and keep its outputs in the paired .ipynb.
notebooks: $(VENV)/.installed-test
	$(BIN)/jupytext --to ipynb --update-metadata '{"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}' --execute $(NOTEBOOKS)

# The students' and the teacher's copies of the labs, each from its source, and what the grader says of solutions and wrong answers.
labs: $(VENV)/.installed-test
	$(BIN)/python notebooks/labs build

# The picture of a report's table, docs/table.svg; best where the libraries of others are not installed, as `make report` leaves it.
table: $(VENV)/.installed
	$(BIN)/python docs/table.py

# The schemas of report.json and check.json, docs/*.schema.json, from their dataclasses.
schema: $(VENV)/.installed
	$(BIN)/python docs/schema.py

# One file for each format of a small report, tests/audit/report/golden: look at what changed before a commit.
golden: $(VENV)/.installed-test
	$(BIN)/python -m tests.audit.report.test_golden

# Claims decided over whole domains, docs/proved.md and what reports quote of it; minutes. One alone: python docs/proved.py NAME
# And ten thousand random small domains against brute force, and attacks found again: benchmarks/worst_pairs.md.
prove: $(VENV)/.installed-test
	$(BIN)/python docs/proved.py
	SUBNORMAL_DOMAINS=10000 $(BIN)/python -m pytest -q tests/audit/evidence/test_every_pair.py tests/audit/evidence/test_box_search.py -k random_domains
	$(BIN)/python -m benchmarks.worst_pairs

# The documentation site, build/docs/html: the guide, the Python interface, a page for each attack and each mechanism, the notebooks.
# A broken link within it is an error. The pictures of the notebooks' sliders are drawn while Sphinx builds the pages. Of four
# processes of Sphinx some wait for the one that gathers: two left a processor idle.
docs: $(VENV)/.installed-test
	@$(BIN)/python -m docs.site.switchers build/docs/html/notebooks/pictures & pictures=$$!; \
	$(BIN)/python -m docs.site.pages build/docs/source && \
	$(BIN)/sphinx-build -W --keep-going -q -j 4 -b html build/docs/source build/docs/html; built=$$?; wait $$pictures && exit $$built
	@echo "open build/docs/html/index.html"

# Published flaws of released software, each in an environment of its own; writes museum/README.md. One alone: python -m museum --only NAME
museum: $(VENV)/.installed-test
	$(BIN)/python -m museum

# The newest releases of libraries, each in an environment of its own, against vectors, claims and museum; writes
# benchmarks/scoreboard/results.md. An hour or two; python -m benchmarks.scoreboard --resume goes on after an interrupt.
scoreboard: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.scoreboard

# What accountants promise beside the truth, of each release in an environment of its own, and the claims of our exact members at a
# thousand sets of parameters each; writes benchmarks/claims.md.
claims: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.claims
	SUBNORMAL_PARAMETERS=1000 $(BIN)/python -m pytest -q --numprocesses auto --dist load tests/acceptance/test_claims_of_members.py

# Every row of `run --all` without its runs, within 2 GB and a minute each; minutes in all.
limits: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.row_limits

# What exactness costs, against plain floats; writes benchmarks/results.md.
bench: $(VENV)/.installed-test
	$(BIN)/python -m pytest benchmarks/test_*.py -q --timeout 3600 --write-results --benchmark-sort=name --benchmark-columns=median,iqr,rounds,iterations

# Figures 4 to 11 of Ilvento 2020, most of them the time of one draw; writes reports/figure-*.png. With options: python -m benchmarks.figures --help
figures: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.figures

# Equal code under this machine's clock, and leaks of a stated size; writes benchmarks/calibration/results.md. Needs an idle machine.
calibrate: $(VENV)/.installed-test
	$(BIN)/python -m pytest benchmarks/calibration -q --timeout 3600

clean:
	rm -rf $(VENV) build dist reports museum/.environments

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "subnormal needs Python 3.11 or newer; '$(PYTHON)' is `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo "subnormal needs '$(PYTHON)' with its venv module (on Debian: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Python compiles what is imported, at its first use; pip would compile four times as much beforehand, on one processor.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[test]'
	touch $@ $(VENV)/.installed
