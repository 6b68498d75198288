"""The short form of `make cluster-test`: three gateways on one PostgreSQL, killed, stopped, cut off."""

from cluster_run import ClusterRun


def test_kills_stops_and_cuts_lose_and_double_nothing(tmp_path):
    run = ClusterRun(tmp_path, seed=18)
    try:
        run.start()
        for kind in ("kill", "cut", "kill", "stop", "kill"):
            run.happen(kind)
        figures = run.finish()
    finally:
        run.close()
    assert (figures["kills"], figures["stops"], figures["cuts"]) == (3, 1, 1)
    assert figures["acknowledged, native"] > 100
    assert figures["acknowledged, Whaler"] > 20
    counters = figures["counters of the gateways' last runs"]
    assert counters["parley_commit_conflicts_total"] > 0
    assert counters["parley_hints_heard_total"] > 0
