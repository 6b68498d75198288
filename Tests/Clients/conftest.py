"""The fixtures of tests of the server, for those with clients of other protocols."""

from server_fixtures import bystander, common_server, lasting_server, pytest_runtest_makereport, server, start  # noqa: F401
