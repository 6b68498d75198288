"""An address without a token cannot use so much of the server that others are refused."""

import asyncio

import pytest
from attack_run import MEGABYTE, measure_bodies, measure_handshakes, measure_logins, serve


@pytest.fixture
def server(tmp_path):
    running = serve(tmp_path)
    yield running
    assert running.stop() == 0


def test_unfinished_bodies_of_anonymous_clients_hold_little_memory(server):
    grown = asyncio.run(measure_bodies(server, seconds=3))
    assert grown < 100 * MEGABYTE


def test_anonymous_sessions_of_one_address_leave_room_for_others(server):
    found = asyncio.run(measure_handshakes(server))
    assert found["bayeux"] and found["socketio"], found


def test_login_attempts_of_one_address_leave_slots_for_others(server):
    found = asyncio.run(measure_logins(server))
    assert set(found["others"]) == {200} and found["next"] == 200, found
