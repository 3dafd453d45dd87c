"""The library for Conan 2: `conan create packaging/conan --build=missing`. With libraries of Debian instead of Conan's:
`conan create packaging/conan --profile packaging/conan/debian12`."""

import pathlib

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Tracenorm(ConanFile):
    name = "tracenorm"
    description = "Nonsmooth convex low-rank matrix estimation under a trace-norm bound"
    license = "MIT"
    topics = ("matrix-completion", "trace-norm", "frank-wolfe", "optimization")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True, "openblas/*:build_lapack": True, "openblas/*:dynamic_arch": True}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return pathlib.Path(self.recipe_folder).parents[1]

    def set_version(self):
        self.version = (self._root / "VERSION").read_text().strip()

    def export_sources(self):
        for name in ("VERSION", "LICENSE", "CMakeLists.txt", "cmake/*", "include/*", "src/*"):
            copy(self, name, self._root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/[>=3.4 <4]", transitive_headers=True)
        self.requires("fmt/[>=9.1 <12]")
        self.requires("libarchive/[>=3.6 <4]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("openblas/[>=0.3.20 <1]")
        self.requires("zlib/[>=1.2.11 <2]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for name in ("APPS", "TESTS", "EXAMPLES", "WERROR", "CUDA", "MPI"):
            toolchain.cache_variables[f"TRACENORM_{name}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")

    def package_info(self):
        # find_package(tracenorm) finds our own file, which finds what static libraries need at the final link.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/tracenorm"]
        self.cpp_info.libs = ["tracenorm_io", "tracenorm_core"]
        self.cpp_info.defines = ["EIGEN_MAX_ALIGN_BYTES=16", "EIGEN_MALLOC_ALREADY_ALIGNED=1"]
        self.cpp_info.system_libs = ["pthread"]
