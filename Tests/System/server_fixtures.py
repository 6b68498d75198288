"""Shared fixtures: the program, and a client that must not be disturbed."""

import shutil

import pytest
from native_client import NativeClient
from parley_server import ROOT, ParleyServer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    setattr(item, "report_" + report.when, report)
    return report


@pytest.fixture
def start(tmp_path, request):
    """Starts servers with flags and variables; they are ended with the test, and have to be alive till then."""
    servers = []

    def start(*flags, environment=None):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        server = ParleyServer(folder, *flags, environment=environment)
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        was_running = server.is_running
        code = server.stop() if was_running else 0
        failed = getattr(request.node, "report_call", None)
        if failed is None or failed.failed:
            logs = ROOT / "artifacts" / "logs"
            logs.mkdir(parents=True, exist_ok=True)
            shutil.copy(server.log, logs / f"{request.node.name.replace('/', '_')[:100]}.log")
        assert was_running, f"the server has died: {server.log.read_text()[-2000:]}"
        assert code == 0, f"the server ended with {code}: {server.log.read_text()[-2000:]}"


@pytest.fixture
def server(start):
    """A server with default settings."""
    return start()


@pytest.fixture(scope="module")
def lasting_server(tmp_path_factory):
    """The server of `common_server`."""
    server = ParleyServer(tmp_path_factory.mktemp("server")).start()
    yield server
    assert server.is_running and server.stop() == 0, f"the server has ended: {server.log.read_text()[-2000:]}"


@pytest.fixture
def common_server(lasting_server):
    """A server with its defaults for tests of one file that look at nothing that the others make."""
    yield lasting_server
    assert lasting_server.is_running, f"the server has died: {lasting_server.log.read_text()[-2000:]}"


@pytest.fixture
def bystander(server):
    """A client that writes in a separate note, and must not be affected by other clients."""
    document = server.create_note("Somebody else's")
    with NativeClient(server, "Bystander") as client:
        joined = client.join(document)
        yield client
        kind, data = client.change(document, joined, 1, ["undisturbed"])
        assert (kind, data["revision"]) == ("acknowledged", 1)
        assert client.take_all() == [], "the bystander has heard of it"
