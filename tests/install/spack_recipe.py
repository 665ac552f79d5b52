#!/usr/bin/python3
"""The recipe for Spack runs, on a stand-in for Spack's directives, has the version of the headers,
names what CMakeLists.txt looks for, and passes settings that are known there.

usage: spack_recipe.py SOURCE"""
import re
import sys
import types
from pathlib import Path

source = Path(sys.argv[1])
said = {}


def directive(name):
    def note(*words, **settings):
        said.setdefault(name, []).append((words, settings))
    return note


class CMakePackage:
    def define(self, name, value):
        return name, value


class Spec(dict):
    def __init__(self, mpi, variants):
        super().__init__(mpi=types.SimpleNamespace(name=mpi, mpicc=f"/bin/mpicc.{mpi}"))
        self.variants = variants

    def __contains__(self, variant):
        return variant in self.variants


spack = types.ModuleType("spack.package")
NAMES = "license version variant depends_on requires conflicts generator".split()
for name in NAMES:
    setattr(spack, name, directive(name))
spack.CMakePackage = CMakePackage
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = spack
recipe = {}
exec(compile((source / "packaging/spack/package.py").read_text(), "package.py", "exec"), recipe)
weir = recipe["Weir"]()

header = (source / "include/weir/version.h").read_text()
wanted = re.search(r'#define WEIR_VERSION "(.*)"', header)[1]
assert said["version"][0][0][0] == wanted, f"version {said['version']}, not {wanted}"

cmake = (source / "CMakeLists.txt").read_text()
NEEDS = {"URING": "liburing", "CJSON": "cjson", "OPENBLAS": "openblas", "ZSTD": "zstd",
         "DEFLATE": "libdeflate", "BLOSC": "c-blosc", "HDF5": "hdf5", "PNG": "libpng"}
looked_for = re.findall(r"pkg_check_modules\((\w+)", cmake)
packages = {re.split(r"[@: ]", words[0])[0] for words, _ in said["depends_on"]}
for name in looked_for:
    assert NEEDS.get(name) in packages, f"the recipe does not name {name}"
minimum = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake)[1]
assert any(words[0] == f"cmake@{minimum}:" for words, _ in said["depends_on"]), f"cmake {minimum}"

variants = {words[0] for words, _ in said["variant"]}
for words, settings in said["depends_on"]:
    assert settings.get("when", "+hdf5").strip("+~") in variants, f"{words}: {settings}"
for mpi in "openmpi", "mpich":
    for chosen in {"+hdf5", "+python"}, set():
        weir.spec = Spec(mpi, chosen)
        settings = dict(weir.cmake_args())
        assert settings["WEIR_MPI"] == mpi and settings["MPI_C_COMPILER"].endswith(mpi)
        assert settings["WEIR_HDF5_PC"] == ("hdf5" if chosen else "none")
        for name in settings:
            assert name in cmake, f"CMakeLists.txt knows no {name}"
