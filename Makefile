# The commands of daily life. CMake does the work; `make help` lists what there is.
#
#   make JOBS=2 ...        at most two compilers at once (default: one per core)
#   make PACKAGES=no ...   leave the system's packages alone
#   make MPI=yes ...       with MPI, for `mpirun -n 4 tracenorm ...`; `make test` does so anyway, MPI=no leaves it out
#   make CUDA=yes dist     wheels with the CUDA backend; `make build` has it wherever there is a toolkit
#   make PYTHON=... ...    another Python than python3, for the Python package
#   make PYTHONS=... ...   several, for `make dist`: one of 3.10, one of 3.11, one of 3.12 or later

JOBS     ?= $(shell nproc)
PREFIX   ?= /usr/local
PACKAGES ?= yes
PYTHON   ?= python3
PYTHONS  ?= $(PYTHON)
MPI      ?=

# $(call packages,GROUPS) installs what is missing; $(call build,PRESET) configures and builds; $(program) builds the program
# alone, in a folder that may be configured for more already.
packages = $(if $(filter no,$(PACKAGES)),@true,@tools/install_packages.sh $(1))
build    = cmake --preset $(1) && cmake --build --preset $(1) -j $(JOBS)
program  = (test -f build/build.ninja || cmake --preset program) $(if $(filter yes,$(MPI)),&& cmake -DTRACENORM_MPI=ON build) && cmake --build build -j $(JOBS) --target tracenorm_program tracenorm_manual
test     = ctest --preset $(1) -j $(JOBS)

# The tests that run the parallel loops, in process or by way of the program.
threaded = Evaluator|SameBits|Solve|Methods|Stopping|Allocation|example|program\.(complete|denoise|links|interruption|repeatable)

# Everything that clang-format and clang-tidy look at.
sources = find include src apps tests examples bench python -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.hpp.in' -o -name '*.cu' -o -name '*.cuh'

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## the library, and the program at build/bin/tracenorm
	$(call packages,build $(if $(filter yes,$(MPI)),mpi))
	$(program)

.PHONY: demo
demo: build ## a robust completion problem made and solved on the spot
	examples/demo.sh build/bin/tracenorm demo-output

.PHONY: test
test: ## builds and runs every test, those of the Python package included
	$(call packages,build test $(if $(filter no,$(MPI)),,mpi witness))
	cmake --preset release -DTRACENORM_MPI=$(if $(filter no,$(MPI)),OFF,ON) && cmake --build --preset release -j $(JOBS)
	$(call test,release)
	$(MAKE) test-python

# The wheel is linked with the library that is built already; `pip install .` compiles everything by itself.
.PHONY: wheel
wheel: build ## the Python package, as a wheel in dist/
	$(call packages,python)
	rm -rf dist && cmake --install build --prefix build/prefix > build/prefix.log
	$(PYTHON) -m venv --clear build/wheel-venv
	build/wheel-venv/bin/pip wheel . --quiet --no-deps --wheel-dir dist --config-settings=build-dir=build/wheel \
	  --config-settings=cmake.define.TRACENORM_PREBUILT=ON \
	  --config-settings=cmake.define.CMAKE_PREFIX_PATH=$(CURDIR)/build/prefix
	@ls dist/*.whl

.PHONY: test-python
test-python: wheel ## the Python tests, on the wheel installed in a fresh virtual environment
	$(PYTHON) -m venv --clear build/venv
	build/venv/bin/pip install --quiet "$$(ls dist/*.whl)[test]"
	TRACENORM_PROGRAM=$(CURDIR)/build/bin/tracenorm build/venv/bin/python -m pytest -q python/tests

.PHONY: asan
asan: ## every test under the address and undefined-behaviour sanitizers
	$(call packages,build test)
	$(call build,asan)
	$(call test,asan)

# The interpreter is not ours: it is run as it is, with the runtimes of the sanitizers loaded before it, and its leaks are
# not looked for. Library and program are those of `make asan`. Left out: what type checkers read, and a wait of a second at most.
asan_python = build-asan/venv/bin/python
.PHONY: asan-python
asan-python: ## the Python tests on a binding under the address and undefined-behaviour sanitizers; TESTS=python/tests/test_solve.py
	$(call packages,build test python)
	cmake --preset asan && cmake --build --preset asan -j $(JOBS) --target tracenorm_io tracenorm_program
	cmake --install build-asan --prefix build-asan/prefix --component development > build-asan/prefix.log
	$(PYTHON) -m venv --clear build-asan/venv
	$(asan_python) -m pip wheel . --quiet --no-deps --wheel-dir build-asan/dist --config-settings=build-dir=build-asan/wheel \
	  --config-settings=cmake.build-type=RelWithDebInfo --config-settings=cmake.define.TRACENORM_PREBUILT=ON \
	  --config-settings=cmake.define.TRACENORM_SANITIZE=address,undefined \
	  --config-settings=cmake.define.CMAKE_PREFIX_PATH=$(CURDIR)/build-asan/prefix
	$(asan_python) -m pip install --quiet "$$(ls build-asan/dist/*.whl)[test]"
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so) $$($(CXX) -print-file-name=libstdc++.so.6)" \
	  ASAN_OPTIONS=detect_leaks=0 TRACENORM_PROGRAM=$(CURDIR)/build-asan/bin/tracenorm \
	  $(asan_python) -m pytest -q -k 'not mypy and not pyi and not within_a_second' $(or $(TESTS),python/tests)

.PHONY: tsan
tsan: ## the tests that use threads, under the thread sanitizer
	$(call packages,build test)
	$(call build,tsan)
	$(call test,tsan) -R '$(threaded)'

.PHONY: sanitized
sanitized: ## threads, readers and writers alone under sanitizers: the part of asan and tsan that every check has
	$(call packages,build test)
	cmake --preset release -DTRACENORM_SANITIZED_PARTS=ON && cmake --build --preset release -j $(JOBS) --target base_tests_tsan io_tests_asan
	build/bin/base_tests_tsan --gtest_brief=1 --gtest_filter='-*Fork*:*Child*:*Grandchild*:*WithoutThreads*'
	build/bin/io_tests_asan --gtest_brief=1

.PHONY: lint
lint: format-check layers tidy ## format, layers and clang-tidy

.PHONY: format
format: ## rewrites every source in the project's format
	$(sources) | xargs clang-format -i

.PHONY: format-check
format-check: ## fails where `make format` would change something
	$(call packages,lint)
	$(sources) | xargs clang-format --dry-run --Werror

.PHONY: layers
layers: ## fails on an include that looks upward (make test also looks at calls)
	python3 tools/check_layers.py

.PHONY: tidy
tidy: ## clang-tidy on every source
	$(call packages,build test lint)
	cmake --preset tidy
	run-clang-tidy -quiet -p build-tidy -j $(JOBS) '^(?!.*/embedded/).*/(src|apps|tests|examples)/.*\.c(pp|xx)$$'

# make bench QUICK=--quick BENCH_DATA=DIR: fewer repetitions; ratings and graphs for the comparisons with other loops.
bench_programs = tracenorm_bench tracenorm_scaling tracenorm_reading tracenorm_eigen_loop tracenorm_crew_bench tracenorm_program
.PHONY: bench
bench: ## kernels next to a plain read and to Eigen, whole runs next to other loops, scaling; tables and build/bench.json
	$(call packages,build test bench)
	cmake --preset release -DTRACENORM_BENCH=ON && cmake --build --preset release -j $(JOBS) --target $(bench_programs)
	test -d build/bench-venv || python3 -m venv build/bench-venv
	build/bench-venv/bin/pip install --quiet --requirement bench/requirements.txt
	build/bench-venv/bin/python bench/report.py build build/bench.json $(if $(BENCH_DATA),--data $(BENCH_DATA)) $(QUICK)
	build/bench-venv/bin/python bench/made_up_ratings.py build/ratings.csv --lines $(if $(QUICK),1000000,10000000)
	build/bench-venv/bin/python bench/reading.py build build/ratings.csv --json build/reading.json

.PHONY: campaign
campaign: ## random problems against every bound, objective, status and certificate; MINUTES=5, SEED=1
	$(call packages,build test)
	cmake --preset release && cmake --build --preset release -j $(JOBS) --target tracenorm_campaign
	build/bin/tracenorm_campaign --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1)

.PHONY: fuzz
fuzz: ## fuzz targets for every reader and parser, with sanitizers; MINUTES=5 for all of them together, TARGETS="npy model"
	$(call packages,build fuzz)
	cmake --preset fuzz && cmake --build build-fuzz -j $(JOBS)
	tests/fuzz/run.py build-fuzz $(TARGETS) --minutes $(or $(MINUTES),5) --jobs $(JOBS) --inputs build-fuzz-fast

.PHONY: fuzz-fast
fuzz-fast: ## the same without sanitizers: many times the inputs; what they find is run under sanitizers by make fuzz
	$(call packages,build fuzz)
	cmake --preset fuzz-fast && cmake --build build-fuzz-fast -j $(JOBS)
	tests/fuzz/run.py build-fuzz-fast $(TARGETS) --minutes $(or $(MINUTES),5) --jobs $(JOBS) --inputs build-fuzz

.PHONY: soak
soak: build ## runs that are killed, stopped and resumed on full disks, against undisturbed ones; MINUTES=60
	$(call packages,build test)
	cmake --preset release && cmake --build --preset release -j $(JOBS) --target tracenorm_program tracenorm_faults
	/usr/bin/python3 tests/soak.py build/bin/tracenorm build/tests/program/libtracenorm_faults.so --minutes $(or $(MINUTES),60)

.PHONY: guard
guard: ## fails when a kernel takes a tenth more instructions, or a run a tenth more passes, than tools/guard.json says
	$(call packages,build test guard)
	cmake --preset release -DTRACENORM_BENCH=ON && cmake --build --preset release -j $(JOBS) --target tracenorm_guard tracenorm_program
	python3 tools/guard.py build

# The site is made of docs/, README and other pages, docstrings and headers. Its tutorials and notebooks are run first; a link
# that leads nowhere is an error.
docs_python = build/docs-venv/bin/python
.PHONY: docs-venv
docs-venv: wheel
	$(call packages,docs)
	test -d build/docs-venv || $(PYTHON) -m venv build/docs-venv
	$(docs_python) -m pip install --quiet --requirement docs/requirements.txt
	$(docs_python) -m pip install --quiet --force-reinstall --no-deps dist/*.whl

.PHONY: docs
docs: docs-venv ## the documentation as a site in build/site, its tutorials and notebooks run
	$(docs_python) tools/docs/run_pages.py build/docs-runs --jobs $(JOBS)
	$(docs_python) tools/docs/run_notebooks.py examples/notebooks build/docs-runs/notebooks
	NO_MKDOCS_2_WARNING=1 $(docs_python) -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

.PHONY: test-docs
test-docs: docs ## the site with all that it runs, and a look at it in a browser
	$(docs_python) tests/docs/check_schema.py docs/report.schema.json build/docs-runs
	$(call packages,test)
	TRACENORM_SITE=build/site /usr/bin/python3 -B -m unittest discover --start-directory tests/browser --pattern site_check.py

.PHONY: docs-numbers
docs-numbers: build ## puts numbers that commands make into README and pages; DATA=DIR for those that need data sets
	python3 tools/docs/page_numbers.py $(if $(DATA),--data $(DATA))

# Packages hold nothing that only some machines have (CUDA, MPI): they have a build folder of their own, and go to packages/.
.PHONY: deb
deb: ## Debian packages of the program and of the library, in packages/
	$(call packages,build deb)
	$(call build,packages)
	rm -f packages/*.deb && cpack --config build-packages/CPackConfig.cmake -B $(CURDIR)/packages > build-packages/cpack.log
	rm -rf packages/_CPack_Packages && ls packages/*.deb

dist_cuda = $(if $(filter yes,$(CUDA)),ON,OFF)
.PHONY: dist
dist: ## wheels that need no library of the system, and the source distribution, in packages/; CUDA=yes: with that backend
	$(call packages,build python dist)
	cmake --preset packages -DTRACENORM_CUDA=$(dist_cuda) && cmake --build build-packages -j $(JOBS)
	rm -f packages/*.whl packages/*.tar.gz && cmake --install build-packages --prefix build-packages/prefix > build-packages/prefix.log
	CUDA=$(dist_cuda) packaging/make_wheels.sh build-packages/prefix packages $(PYTHONS)
	$(PYTHON) -m venv --clear build-packages/sdist-venv && build-packages/sdist-venv/bin/pip install --quiet build
	build-packages/sdist-venv/bin/python -m build --sdist --outdir packages . > build-packages/sdist.log
	@ls packages/*.whl packages/*.tar.gz

.PHONY: test-packages
test-packages: ## installs what is in packages/ in bare systems (debootstrap, as root) and tries it; minutes
	$(call packages,bare python)
	packaging/test_packages.sh packages

.PHONY: release
release: ## everything that a release consists of, from a clean tree; DRY_RUN=yes says what is missing and makes nothing
	tools/release.sh $(if $(filter yes,$(DRY_RUN)),--dry-run)

.PHONY: install
install: build ## library, headers and program to PREFIX (/usr/local)
	cmake --install build --prefix "$(PREFIX)"

.PHONY: clean
clean: ## removes everything that was built
	rm -rf dist packages build build-packages build-dev build-asan build-tsan build-tidy build-double build-fuzz build-fuzz-fast demo-output
