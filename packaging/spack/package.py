# A recipe for Spack: copy it to packages/weir/package.py of a repository of your own, or
#     spack repo create mine && cp package.py mine/packages/weir/ && spack repo add mine
#     spack dev-build -d PATH weir ^openmpi        (or ^mpich)
# There is no address to fetch from: the source is the folder that dev-build is told.
from spack.package import *


class Weir(CMakePackage):
    """Sections of arrays larger than memory between files and MPI processes: a library for C, Python
    and Fortran, a command, and drop-in replacements for MPI-IO and Disk Resident Arrays."""

    has_code = True
    license("BSD-3-Clause")
    version("0.2.0")

    variant("hdf5", default=True, description="datasets of HDF5 and NetCDF-4 files")
    variant("python", default=True, description="import weir")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("cjson")
    depends_on("liburing")
    depends_on("libpng")
    depends_on("openblas")
    depends_on("zstd")
    depends_on("libdeflate")
    depends_on("c-blosc")
    depends_on("hdf5@1.10.7: +mpi +hl", when="+hdf5")
    depends_on("python@3.8:", when="+python", type=("build", "link", "run"))
    depends_on("py-numpy", when="+python", type="run")

    requires("^[virtuals=mpi] openmpi", "^[virtuals=mpi] mpich", policy="one_of",
             msg="Weir is built for Open MPI or MPICH")
    conflicts("platform=darwin", msg="Linux only")

    generator("ninja")

    def cmake_args(self):
        flavour = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
        return [self.define("WEIR_MPI", flavour),
                self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
                # what is not wanted has a name that pkg-config does not know
                self.define("WEIR_HDF5_PC", "hdf5" if "+hdf5" in self.spec else "none")]

    def setup_run_environment(self, env):
        flavour = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
        if "+python" in self.spec:
            env.prepend_path("PYTHONPATH", f"{self.prefix.lib}/weir-{flavour}/python")
