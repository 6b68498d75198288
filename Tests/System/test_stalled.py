"""A hundred stalled readers cost a bounded amount of memory, and delay no other client."""

from stalled_run import StalledRun, lagging, resident_bytes

READERS = 100
CHANGE_BYTES = 4_000


def test_a_hundred_stalled_readers_use_no_further_memory(start):
    # Stalled readers answer no ping. On a busy machine the test takes longer than the usual limit.
    patience = ("--ping-interval", "10m", "--idle-timeout", "20m")
    servers = start(*patience), start(*patience)
    alone, stalled = (
        StalledRun(server, readers, CHANGE_BYTES)
        for server, readers in zip(servers, (0, READERS))
    )
    # First the system's buffers of all readers fill up, some megabytes each.
    while lagging(servers[1]) < READERS:
        stalled.write(100)
    stalled.write(250)
    alone.write(stalled.revision)
    cost = resident_bytes(servers[1]) - resident_bytes(servers[0])
    # To hold what they have not read would take 100 MB since they all lag.
    assert lagging(servers[1]) == READERS
    assert cost < 15_000_000, cost
    for reader in stalled.readers[:3]:
        stalled.catch_up(reader)
    for run in (alone, stalled):
        run.close()
