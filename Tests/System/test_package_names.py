"""An app can depend on this package beside others: Swift Package Manager allows each target's name once."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Targets of well-known packages.
POPULAR = ["JSON", "SocketIO", "CSQLite", "Locks", "Hashing", "HTTP1", "WebSocketClient", "GRDB"]
PRODUCTS = ["OTCore", "ParleyClient", "ParleyChat", "ParleyOffline", "ParleyGroups", "ParleyUI", "DialectModels", "TwakeCubits", "ParleyServer"]


def write_package(folder, name, body):
    source = folder / "Sources" / name
    source.mkdir(parents=True)
    (source / ("main.swift" if name == "app" else "one.swift")).write_text("")
    (folder / "Package.swift").write_text(f"// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: \"{name}\", {body})\n")


def resolve(folder, targets):
    """What Swift Package Manager says of an app of all products beside packages with these targets."""
    dependencies = [f'.package(name: "parley", path: "{ROOT}")']
    products = [f'.product(name: "{product}", package: "parley")' for product in PRODUCTS]
    for name in targets:
        write_package(
            folder / f"other-{name}", name,
            f'products: [.`library`(name: "{name}", targets: ["{name}"])], targets: [.target(name: "{name}")]',
        )  # fmt: skip
        dependencies.append(f'.package(path: "../other-{name}")')
        products.append(f'.product(name: "{name}", package: "other-{name}")')
    platforms = "platforms: [.macOS(.v15), .iOS(.v18)]"
    target = f'.executableTarget(name: "app", dependencies: [{", ".join(products)}])'
    write_package(folder / "app", "app", f"{platforms}, dependencies: [{', '.join(dependencies)}], targets: [{target}]")
    command = ["swift", "package", "--package-path", str(folder / "app"), "show-dependencies"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("targets", "is_possible"), [(POPULAR, True), (["OTCore"], False)])
def test_an_app_resolves_beside_packages_with_popular_names(tmp_path, targets, is_possible):
    result = resolve(tmp_path, targets)
    assert (result.returncode == 0) == is_possible, result.stderr
    assert is_possible or "conflicting name: 'OTCore" in result.stderr
