"""The modules of the Python package: their imports go in one direction, and none uses another's private names."""

import ast
import graphlib

import pytest
from parley_server import ROOT

PACKAGE = ROOT / "Clients" / "python" / "parley"
MODULES = {path.stem: ast.parse(path.read_text()) for path in PACKAGE.glob("*.py")}


def imports(tree):
    """The modules of the package that a module imports, for types too."""
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def defined(tree):
    """The private names that a module's functions, classes and assignments define."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.attr if isinstance(node, ast.Attribute) else node.id


def used(tree):
    """The private names that a module takes from others: imported, or of an object other than `self`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield from (alias.name for alias in node.names if is_private(alias.name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr


def test_imports_have_no_cycle():
    assert len(MODULES) > 5
    tuple(graphlib.TopologicalSorter({name: imports(tree) for name, tree in MODULES.items()}).static_order())


@pytest.mark.parametrize("module", sorted(MODULES))
def test_uses_no_private_names_of_other_modules(module):
    assert set(used(MODULES[module])) <= set(defined(MODULES[module]))
