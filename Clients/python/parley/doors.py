"""Two builds of the client core: a shared library, and WebAssembly for platforms without one.

Calls and results have the same encoding in both. The library is many times faster and loads immediately; WebAssembly is
used if the library cannot be loaded.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.resources
import os
import pathlib
import warnings
import weakref
from functools import lru_cache
from typing import Any, Protocol

from .errors import CoreUnavailable

#: The environment variable that selects library or wasm; if it is not set, the package selects.
CORE_VARIABLE = "PARLEY_CORE"
#: PARLEY_CLIENT_VERSION of Clients/c/parley_client.h in Parley's sources.
_VERSION = 2

_FUNCTIONS = {
    "client_create": "parley_client_create", "client_handle": "parley_client_handle", "note_text": "parley_note_text",
    "note_revision": "parley_note_revision", "note_people": "parley_note_people",
    "room_people": "parley_room_people", "kept_text": "parley_kept_text", "note_format": "parley_note_format",
    "note_flags": "parley_note_flags",
}  # fmt: skip


class LibraryUnavailable(RuntimeWarning):
    """The package's library cannot be used on this machine; WebAssembly is used instead, which is slower."""


class CoreInstance(Protocol):
    """An instance of the client core."""

    kind: str

    def call(self, name: str, data: bytes, *more: float) -> float:
        """Calls a function with an encoded argument, and with numbers (`client_handle`: the time).

        The result is negative if the core rejects the argument.
        """

    def output(self) -> bytes:
        """Returns the output of the last call."""


def create_core() -> CoreInstance:
    """Creates an instance of the core, in the build that `load_core` selects. Raises its errors."""
    return NativeCore() if load_core() == "library" else WebAssemblyCore()


def load_core() -> str:
    """Loads the core and returns its build, "library" or "wasm". Compiling WebAssembly takes about a second.

    Raises CoreUnavailable if no build can be loaded, and ValueError if PARLEY_CORE has an unknown value.
    """
    requested = os.environ.get(CORE_VARIABLE, "")
    if requested not in ("", "library", "wasm"):
        raise ValueError(f"expected {CORE_VARIABLE} to be library or wasm, got {requested[:20]!r}")
    reason = ""
    if requested != "wasm":
        loaded = _library()
        if isinstance(loaded, _Library):
            return "library"
        if requested == "library":
            raise CoreUnavailable(loaded or "this package was built without the shared library")
        reason = loaded
        if reason:
            _warn_once(reason)
    try:
        _module()
    except Exception as error:
        # For example, the import fails, the module is damaged, or wasmtime does not support the machine.
        raise CoreUnavailable(
            "; ".join(filter(None, [reason, f"WebAssembly cannot be used: {type(error).__name__}: {error}"]))
        ) from error
    return "wasm"


@lru_cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"{reason}; using WebAssembly instead, which is slower", LibraryUnavailable, stacklevel=2
    )


class _Library:
    """The shared library, loaded once for the process."""

    def __init__(self, path: pathlib.Path) -> None:
        # PyDLL keeps the GIL: the calls are so short that releasing it would take longer than they do.
        library = ctypes.PyDLL(str(path))
        library.parley_client_version.restype = ctypes.c_int32
        version = library.parley_client_version()
        if version != _VERSION:
            raise OSError(f"expected interface version {_VERSION}, got {version}")
        self.new = library.parley_client_new
        self.new.restype = ctypes.c_void_p
        self.free = library.parley_client_free
        self.free.argtypes, self.free.restype = [ctypes.c_void_p], None
        self.output = library.parley_client_output
        self.output.argtypes, self.output.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_void_p
        self.functions: dict[str, Any] = {}
        for name, symbol in _FUNCTIONS.items():
            function = getattr(library, symbol)
            numbers = [ctypes.c_double] if name == "client_handle" else []
            function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, *numbers]
            function.restype = ctypes.c_double if name == "note_revision" else ctypes.c_int32
            self.functions[name] = function


@lru_cache(maxsize=1)
def _library() -> _Library | str:
    """Returns the library, or why it cannot be used; "" if the package was built without one."""
    path = pathlib.Path(__file__).with_name("libparleyclient.so")
    try:
        expected = path.with_name(f"{path.name}.sha256").read_text().split()[0]
        # Loading a truncated file would crash the process instead of raising an error.
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            return "the package's library does not match its checksum; reinstall the package"
        return _Library(path)
    except FileNotFoundError:
        return "the package's library has no checksum file; reinstall the package" if path.exists() else ""
    except (OSError, AttributeError, IndexError) as error:
        return f"the package's library cannot be loaded: {error}"


class NativeCore:
    """An instance of the core in the shared library. Use it in one thread at a time."""

    kind = "library"

    def __init__(self) -> None:
        library = _library()
        if not isinstance(library, _Library):
            raise CoreUnavailable(library or "this package was built without the shared library")
        self._library = library
        self._core = library.new()
        self._count = ctypes.c_int32()
        self._count_address = ctypes.addressof(self._count)
        weakref.finalize(self, library.free, self._core)

    def call(self, name: str, data: bytes, *more: float) -> float:
        return float(self._library.functions[name](self._core, data, len(data), *more))

    def output(self) -> bytes:
        start = self._library.output(self._core, self._count_address)
        return ctypes.string_at(start, self._count.value) if start else b""


@lru_cache(maxsize=1)
def _module() -> tuple[Any, Any]:
    """Returns the core in WebAssembly, compiled once for the process."""
    # Imported only if it is used: wasmtime is 30 MB, and its import takes some time.
    import wasmtime

    engine = wasmtime.Engine()
    wasm = importlib.resources.files(__package__).joinpath("client.wasm").read_bytes()
    return engine, wasmtime.Module(engine, wasm)


class WebAssemblyCore:
    """An instance of the core in wasmtime, with a memory of its own."""

    kind = "wasm"

    def __init__(self) -> None:
        import wasmtime

        engine, module = _module()
        self._store = wasmtime.Store(engine)
        exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        names = (*_FUNCTIONS, "input_reserve", "output_address", "output_count")
        self._functions = {name: exports[name] for name in names}
        self._memory = exports["memory"]

    def call(self, name: str, data: bytes, *more: float) -> float:
        pointer = self._functions["input_reserve"](self._store, len(data))
        self._memory.write(self._store, data, pointer)
        return float(self._functions[name](self._store, len(data), *more))

    def output(self) -> bytes:
        start = self._functions["output_address"](self._store)
        count = self._functions["output_count"](self._store)
        return bytes(self._memory.read(self._store, start, start + count))
