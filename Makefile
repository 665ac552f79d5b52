# make [MPI=openmpi|mpich]   build into build/$(MPI)
# make demo                  see it work
# make test, test-long       tests; all combinations instead of a sample
# make lint                  style, warnings, rooms, symbols, packages
# make bench                 figures; QUICK=1, SUITE=name
# make docs                  rewrite the generated documents
# make abi                   at a release: note its interface, which lint compares with
# make install PREFIX=...    /usr/local unless told
# make help                  this
MPI ?= openmpi
PREFIX ?= /usr/local
BUILD := build/$(MPI)
RUN_openmpi := OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi \
    --oversubscribe --bind-to none -n
RUN_mpich := mpiexec.mpich -n
MPIRUN := $(RUN_$(MPI))
CTEST := ctest --output-on-failure --no-tests=error --parallel $(shell nproc)

ifeq ($(filter openmpi mpich,$(MPI)),)
$(error MPI is "$(MPI)"; it must be openmpi or mpich)
endif

.PHONY: all setup demo test test-long sanitized lint bench docs abi install clean help
all: setup
	@$(call build,$(MPI))

define build
mkdir -p build && \
{ cmake --preset $(1) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; } && \
cmake --build build/$(1)
endef

# Groups of packages.txt: what all goals of this run need together.
PACKAGES := library $(MPI)
ifneq ($(filter test test-long sanitized bench lint,$(MAKECMDGOALS)),)
PACKAGES += openmpi mpich test
endif
ifneq ($(filter lint,$(MAKECMDGOALS)),)
PACKAGES += lint
endif

setup:
	@tools/setup $(sort $(PACKAGES))

demo: all
	@$(BUILD)/bin/weir doctor $(BUILD)
	@$(BUILD)/tools/demo $(BUILD)/demo.bin
	@$(MPIRUN) 4 $(BUILD)/tools/demo_array $(BUILD)/demo.npy
	@$(MPIRUN) 2 $(BUILD)/tools/demo_operators $(BUILD)
	@$(BUILD)/examples/strided_section

sanitized: setup
	@$(call build,asan)
	@$(call build,tsan)
	$(CTEST) --test-dir build/asan -L 'unit|model|fault|fuzz'
	$(CTEST) --test-dir build/tsan -L threads

test: all sanitized
	$(CTEST) --test-dir $(BUILD)

test-long: export WEIR_TEST_LONG = 1
test-long: test

lint: setup
	@tools/lint/run

bench: all
	@bench/run.py --mpi $(MPI) --build $(BUILD) --docs docs/benchmarks.md \
	    $(if $(SUITE),--suite $(SUITE)) $(if $(filter-out 0,$(QUICK)),--quick)

docs: all
	@$(BUILD)/tools/tunables_doc >docs/tunables.md

abi:
	@tools/lint/abi.py --renew

install: all
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf build

help:
	@sed -n 's/^# make/make/p' Makefile
