# SPDX-License-Identifier: MIT
"""The library for Conan 2. Untested: Debian's packages are what Symport is built and tested with."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class Symport(ConanFile):
    name = "symport"
    license = "MIT"
    description = "Symmetry teleportation: optimizers that jump along symmetries of the loss"
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "src/*", "lab/*", "web/*", "LICENSE"
    requires = "eigen/3.4.0", "fmt/9.1.0", "openblas/0.3.21", "zlib/1.2.13"

    def set_version(self):
        text = (Path(self.recipe_folder) / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"project\(symport VERSION ([0-9.]+)", text).group(1)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables |= {"SYMPORT_TESTS": False, "SYMPORT_APP": False}
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install(component="development")

    def package_info(self):
        self.cpp_info.libs = ["symport"]
        self.cpp_info.defines = ["EIGEN_MAX_ALIGN_BYTES=32"]
