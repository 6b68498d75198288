"""The wheel is for one kind of machine where the library is in it, and for any otherwise."""

import pathlib

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

_PLATFORM = pathlib.Path(__file__).with_name("platform-tag")


class Package(Distribution):
    """A package that is of one kind of machine, or of any."""

    def has_ext_modules(self) -> bool:
        return _PLATFORM.exists()


class Wheel(bdist_wheel):
    """A wheel for every Python 3: ctypes loads the library, so no wheel is tied to an interpreter."""

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", _PLATFORM.read_text().strip() if _PLATFORM.exists() else "any")


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel})
