"""The fixtures of tests of the server."""

from server_fixtures import bystander, pytest_runtest_makereport, server, start  # noqa: F401
