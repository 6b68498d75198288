"""`make check`: which tests a change can reach."""

import sys

import pytest
from parley_server import ROOT

sys.path.insert(0, str(ROOT / "Scripts"))
from check_change import reach_of  # noqa: E402

MODULES = {
    "OTCore": "Sources/OTCore",
    "ParleyBrokerNATS": "Sources/Adapters/ParleyBrokerNATS",
    "ParleyUI": "Sources/ParleyUI",
    "OTCoreTests": "Tests/OTCoreTests",
    "ParleyBrokerNATSTests": "Tests/ParleyBrokerNATSTests",
}
DEPENDENTS = {
    "OTCore": {"OTCore", "OTCoreTests", "ParleyBrokerNATS", "ParleyBrokerNATSTests", "ParleyUI", "parley"},
    "ParleyBrokerNATS": {"ParleyBrokerNATS", "ParleyBrokerNATSTests", "parley"},
    "ParleyUI": {"ParleyUI"},
    "OTCoreTests": {"OTCoreTests"},
    "ParleyBrokerNATSTests": {"ParleyBrokerNATSTests"},
}
EVERYTHING = ["growth", "swift", "fuzz", "web", "clients", "browser"]
HABITS = ["growth=ParleyArchitectureTests", "swift=ParleyArchitectureTests"]


@pytest.mark.parametrize(
    ("path", "reached"),
    [
        ("Sources/OTCore/Document.swift", [
            "growth=OTCoreTests,ParleyArchitectureTests,ParleyBrokerNATSTests", "swift=OTCoreTests,ParleyArchitectureTests,ParleyBrokerNATSTests",
            "fuzz", "web", "clients", "browser",
        ]),
        ("Sources/Adapters/ParleyBrokerNATS/NATSBroker.swift", [
            "growth=ParleyArchitectureTests,ParleyBrokerNATSTests", "swift=ParleyArchitectureTests,ParleyBrokerNATSTests", "clients", "browser",
        ]),
        ("Sources/ParleyUI/NoteView.swift", HABITS),
        ("Tests/OTCoreTests/A.swift", ["growth=OTCoreTests,ParleyArchitectureTests", "swift=OTCoreTests,ParleyArchitectureTests"]),
        ("Tests/System/test_tls.py", [*HABITS, "clients=Tests/System/test_tls.py"]),
        ("Tests/System/parley_server.py", [*HABITS, "clients"]),
        ("Tests/Browser/test_early.py", [*HABITS, "browser=Tests/Browser/test_early.py"]),
        ("Tests/Web/rules.test.mjs", [*HABITS, "web"]),
        ("Web/js/app.js", [*HABITS, "web", "browser"]),
        ("Fuzz/Messages.swift", [*HABITS, "fuzz"]),
        ("Packaging/proxies/" + "-".join(["no", "such", "proxy"]), HABITS),
        ("Package.swift", EVERYTHING),
        ("Tests/requirements.txt", EVERYTHING),
        ("Tests/false-races.txt", EVERYTHING),
        ("Sources/Strange/New.swift", EVERYTHING),
    ],
)  # fmt: skip
def test_a_change_reaches_what_depends_on_it(path, reached):
    assert list(reach_of([path], MODULES, DEPENDENTS).arguments()) == reached


def test_a_page_reaches_the_tests_that_name_it():
    clients = reach_of(["Documentation/Operations.md"], MODULES, DEPENDENTS).selected["clients"]
    assert "Tests/System/test_operations_page.py" in clients
    assert "Tests/System/test_tls.py" not in clients
