# make [MPI=openmpi|mpich]   build into build/$(MPI)
# make setup [GOAL ...]      install the packages that these goals need; nothing else installs any
# make demo                  see it work
# make python, fortran       the same as make, which builds them where it can; with setup it can
# make test, test-long       tests; all combinations and numbers of ranks instead of a sample
# make lint                  style, warnings, rooms, symbols, budget of the tests, packages
# make bench                 figures; QUICK=1, SUITE=name
# make docs                  rewrite the generated documents
# make abi                   at a release: note its interface, which lint compares with
# make install PREFIX=...    /usr/local unless told
# make deb                   Debian packages of that build, into build/$(MPI)/deb
# make help                  this
MPI ?= openmpi
PREFIX ?= /usr/local
BUILD := build/$(MPI)
RUN_openmpi := OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi \
    --oversubscribe --bind-to none -n
RUN_mpich := mpiexec.mpich -n
MPIRUN := $(RUN_$(MPI))
CORES := $(shell nproc)
# Most of a test of MPI goes by while its ranks start and wait: three times as many ranks as cores.
CTEST := ctest --output-on-failure --no-tests=error --parallel $(shell expr 3 \* $(CORES))
WHICH := -L push
LIMIT := 180

ifeq ($(filter openmpi mpich,$(MPI)),)
$(error MPI is "$(MPI)"; it must be openmpi or mpich)
endif

.PHONY: all packages setup demo python fortran test test-long sanitized lint bench docs abi install deb clean help
all: packages
	@$(call configure,$(MPI))
	@cmake --build $(BUILD)

python fortran: all

define configure
mkdir -p build && \
{ cmake --preset $(1) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; }
endef

# Groups of packages.txt: what all goals of this run need together.
PACKAGES := library $(MPI)
PACKAGES += $(filter python fortran,$(MAKECMDGOALS))
ifneq ($(filter test test-long sanitized bench lint,$(MAKECMDGOALS)),)
PACKAGES += openmpi mpich python fortran deb test
endif
ifneq ($(filter deb,$(MAKECMDGOALS)),)
PACKAGES += python fortran deb
endif
ifneq ($(filter lint abi,$(MAKECMDGOALS)),)
PACKAGES += lint
endif

packages:
	@tools/setup $(if $(filter setup,$(MAKECMDGOALS)),,--check) $(sort $(PACKAGES))

setup: packages
	@$(if $(filter test,$(PACKAGES)),tools/node_packages $(BUILD))

# On a terminal ninja keeps its progress to one line.
demo: packages
	@echo "demo: building the library (half a minute on two cores the first time)"
	@$(call configure,$(MPI))
	@if [ -t 1 ]; then NINJA_STATUS='demo: %f of %t ' cmake --build $(BUILD) --target weir_command demo; \
	else cmake --build $(BUILD) --target weir_command demo >build/demo.log || { cat build/demo.log; exit 1; }; fi
	@$(MPIRUN) 4 $(BUILD)/tools/demo $(BUILD)/demo.npy
	@$(BUILD)/bin/weir plan --array 64,4,256 --section '[:, :, 64p:64p+64]' --ranks 4 \
	    --svg $(BUILD)/demo.svg | sed -n 's/^plan: \([^;]*\).*/  plan     \1/p'
	@echo "  picture of the plan: $(BUILD)/demo.svg"

sanitized: packages
	@$(call configure,asan)
	@cmake --build build/asan --target sanitized_tests
	@$(call configure,tsan)
	@cmake --build build/tsan --target sanitized_tests
	$(CTEST) --timeout $(LIMIT) --test-dir build/asan -L push --output-junit times.xml
	$(CTEST) --timeout $(LIMIT) --test-dir build/tsan -L push --output-junit times.xml

test: all sanitized
	$(CTEST) --timeout $(LIMIT) --test-dir $(BUILD) $(WHICH) --output-junit times.xml
	@tools/slowest.py $(BUILD)/times.xml build/asan/times.xml build/tsan/times.xml

test-long: export WEIR_TEST_LONG = 1
test-long: WHICH :=
test-long: LIMIT := 3600
test-long: test

lint: packages
	@tools/lint/run

bench: all
	@bench/run.py --mpi $(MPI) --build $(BUILD) --docs docs/benchmarks.md \
	    $(if $(SUITE),--suite $(SUITE)) $(if $(filter-out 0,$(QUICK)),--quick)

docs: all
	@$(BUILD)/tools/tunables_doc >docs/tunables.md

abi: packages
	@tools/lint/abi.py --renew

install: all
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

deb: all
	@packaging/debian/build $(BUILD) $(MPI)

clean:
	rm -rf build

help:
	@sed -n 's/^# make/make/p' Makefile
