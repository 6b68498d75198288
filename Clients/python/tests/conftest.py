"""The fixtures of tests of the server, for those of the Python package."""

from server_fixtures import bystander, pytest_runtest_makereport, server, start  # noqa: F401
