"""Builds and runs the stranger's project of tests/install against the package."""

import pathlib

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake


class TestPackage(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps", "CMakeToolchain"

    def layout(self):
        self.folders.build = "build"
        self.folders.generators = "build/generators"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=str(pathlib.Path(self.recipe_folder).parents[2] / "tests/install/consumer"))
        cmake.build()

    def test(self):
        if can_run(self):
            for name in ("consumer", "file_consumer"):
                self.run(str(pathlib.Path(self.build_folder) / name), env="conanrun")
