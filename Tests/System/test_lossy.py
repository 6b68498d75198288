"""A network that cuts connections anywhere: every edit arrives once, in the order of typing."""

import pytest
from cutting_proxy import CuttingProxy
from lossy_run import LossyRun


@pytest.mark.parametrize("seed", range(2))
def test_all_edits_arrive_over_repeatedly_cut_connections(start, seed):
    server = start()
    # From within the handshake to some hundred messages.
    proxy = CuttingProxy(server.port, seed, 200, 12_000)
    try:
        run = LossyRun(server, proxy, seed, typists=4)
        while sum(proxy.cuts.values()) < 40:
            run.step()
        figures = run.finish()
    finally:
        proxy.close()
    assert min(proxy.cuts.values()) > 0
    assert figures["sent again after a cut"] > 0
    server.start()
