"""Makes system calls of a running server fail, with a preloaded library."""

import functools
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).with_name("faults.c")


@functools.cache
def library():
    """Returns the path of the library, which is built once for each run of the tests."""
    folder = tempfile.mkdtemp(prefix="parley-faults-")
    path = pathlib.Path(folder) / "faults.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path, SOURCE, "-ldl"],
        check=True,
    )
    return path


class Faults:
    """The faults of one server, with the names in faults.c."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()

    @property
    def environment(self):
        """The environment variables for the server."""
        return {"LD_PRELOAD": str(library()), "PARLEY_FAULTS": str(self.folder)}

    def begin(self, fault, number=0):
        fresh = self.folder / f".{fault}"
        fresh.write_text(str(number))
        fresh.rename(self.folder / fault)

    def end(self, fault):
        (self.folder / fault).unlink()

    def clear(self):
        for fault in self.folder.iterdir():
            fault.unlink()
