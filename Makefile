# The doors to everything: setting up, building, showing, checking, installing.
#
#   make              fetch what the build needs, build build/fdl
#   make demo         a walk through FDL with real data (demo/demo.sh)
#   make check        every test, with gcc, clang and the sanitizers
#   make lint         cppcheck and clang-tidy, which check runs too
#   make fuzz         libFuzzer on what reads strangers' bytes, FUZZ_SECONDS (600) each
#   make coverage     lines and branches that the tests run through
#   make soak         a thousand random histories (HISTORIES=n, FIRST_SEED=n), hours of them
#   make bench        how long things take, beside git, DuckDB, s5cmd and nginx; BENCH="JOB..." for a part of it
#   make install      to PREFIX (/usr/local), below DESTDIR
#   make deb, wheel   a Debian package, in build/deb/; a Python wheel, in build/wheel/
#   make format       lay out the C sources; format-check only looks
#   make clean        remove what was built; distclean also what was fetched

PREFIX ?= /usr/local
DESTDIR ?=
JOBS := $(shell nproc)
# Tests of servers wait more than they work.
NET_JOBS := $(shell expr 2 \* $$(nproc))
CTEST := TMPDIR=$$(tools/test-folder) ctest --output-on-failure -j$(JOBS)
# What Python keeps stays below build/ too.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
PYTEST := TMPDIR=$$(tools/test-folder) build/venv/bin/python -m pytest -o cache_dir=$(CURDIR)/build/pytest-cache -o tmp_path_retention_policy=failed --durations=12
SOURCES = $(shell git ls-files 'include/*.h' 'src/*.[ch]' 'tests/*.[ch]')

.PHONY: all setup configure demo check check-setup check-sanitizers check-library check-e2e check-net check-host check-threads lint fuzz coverage soak bench install format format-check clean distclean
.NOTPARALLEL:

all: configure
	@cmake --build build

setup:
	@tools/setup build

configure: setup
	@cmake --preset default -DCMAKE_INSTALL_PREFIX=$(PREFIX) >build/configure.log || { cat build/configure.log; exit 1; }

demo: all
	@tools/setup demo
	@demo/demo.sh

# ---- checks: each also by itself; what make builds is gcc's, what the sanitizers look at is clang's ----

check: lint check-sanitizers check-net check-host check-threads check-library check-e2e

check-setup:
	@tools/setup check

# What a compiler does not see; the flags are those of make.
lint: check-setup configure
	tools/lint

check-sanitizers: check-setup
	cmake --preset asan-ubsan >/dev/null
	cmake --build build/asan-ubsan
	$(CTEST) --test-dir build/asan-ubsan

# What make built exports what the headers promise; a sanitizer would add names of its own.
check-library: all
	tools/check-house symbols . build/libfdl.so build/libfdl.a

check-e2e: check-setup all
	$(PYTEST) -n $(JOBS) tests/e2e

# Buckets and web servers, on servers that the tests start: the stores as check-sanitizers built them, and the program.
check-net: check-setup all
	cmake --preset asan-ubsan >/dev/null
	cmake --build build/asan-ubsan
	FDL_BUILD=build/asan-ubsan $(PYTEST) -n $(NET_JOBS) tests/net

# `fdl serve` as check-sanitizers built it, with DuckDB, other clients and hostile ones before it.
check-host: check-setup all
	cmake --preset asan-ubsan >/dev/null
	cmake --build build/asan-ubsan --target fdl_program
	FDL_BUILD=build/asan-ubsan $(PYTEST) -n $(NET_JOBS) tests/host

# Threads that meet: clang's thread sanitizer in the programs that start them, in two hosts, and in the program that asks them.
check-threads: check-setup all
	cmake --preset tsan >/dev/null
	cmake --build build/tsan --target threaded
	$(CTEST) --test-dir build/tsan -L threads
	FDL=build/tsan/fdl FDL_BUILD=build/tsan $(PYTEST) -n $(JOBS) -k "sixteen or many_readers or two_hosts" tests/net/test_s3.py tests/host/test_reading.py tests/host/test_races.py

# ---- long runs: not part of check ------------------------------------------

FUZZ_SECONDS ?= 600

fuzz: check-setup
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz --target fuzz_targets
	@tools/fuzz $(FUZZ_SECONDS)

# Everything that check runs, once, with counters; what a kill ends counts as nothing, and a test that fails does not end it.
coverage: all
	@tools/setup coverage
	@cmake --preset coverage >/dev/null
	@cmake --build build/coverage
	@find build/coverage -name '*.gcda' -delete
	@failed=0; export FDL=build/coverage/fdl FDL_BUILD=build/coverage GCOV_ERROR_FILE=$(CURDIR)/build/coverage/gcov.log; \
	$(CTEST) --test-dir build/coverage -E house || failed=1; \
	$(PYTEST) -q -n $(JOBS) tests/e2e || failed=1; \
	$(PYTEST) -q -n $(NET_JOBS) tests/net || failed=1; \
	$(PYTEST) -q -n $(NET_JOBS) tests/host || failed=1; \
	build/venv/bin/python tools/coverage && exit $$failed

# Every step fails in turn, where check takes every third, and many random histories. A failure names its seed: FDL_TEST_SEED=<seed> make soak replays it.
HISTORIES ?= 1000
FIRST_SEED ?= 1
soak: check-sanitizers all
	FDL_TEST_SWEEP=every $(PYTEST) -q -n $(JOBS) tests/net/test_program_faults.py
	FDL_TEST_SWEEP=every $(PYTEST) -q -n $(JOBS) tests/e2e/test_interruption.py
	FDL_TEST_SWEEP=every $(CTEST) --test-dir build/asan-ubsan -R unit/flow
	FDL_TEST_SWEEP=every FDL_BUILD=build/asan-ubsan $(PYTEST) -q -s tests/host/test_races.py
	FDL_TEST_HISTORIES=$(HISTORIES) FDL_TEST_FIRST_SEED=$(FIRST_SEED) $(PYTEST) -q -n $(JOBS) tests/e2e/test_history_model.py
	@echo "$(HISTORIES) random histories, seeds from $(FIRST_SEED) on: each as its model says"

bench: all
	@tools/setup bench
	@build/venv/bin/python bench/bench.py $(BENCH)

# ---- the rest ---------------------------------------------------------------

install: all
	@DESTDIR=$(DESTDIR) cmake --install build

.PHONY: deb wheel

deb: all
	@tools/setup package
	@tools/make-deb build build/deb

wheel: all
	@tools/make-wheel build build/wheel

format:
	clang-format -i $(SOURCES)

format-check:
	clang-format --dry-run --Werror $(SOURCES)

# deps/, venv/, dbt/, readers/ and stamps/ were fetched, not built.
clean:
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name deps ! -name venv ! -name dbt ! -name readers ! -name stamps -exec rm -rf {} +; fi

distclean:
	rm -rf build
