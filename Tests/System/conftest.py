"""The fixtures of tests of the server."""

from server_fixtures import bystander, common_server, lasting_server, pytest_runtest_makereport, server, start  # noqa: F401
