"""The metrics of the server at /metrics, read with Prometheus' parser."""

import json
import re

import pytest
from native_client import NativeClient
from parley_server import ROOT
from prometheus_client.parser import text_string_to_metric_families
from whaler_client import WhalerClient


def scrape(server):
    """All samples, as {(name, labels): value}, and the types of their families."""
    status, headers, body = server.request("GET", "/metrics")
    assert status == 200
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples, types = {}, {}
    for family in text_string_to_metric_families(body.decode()):
        types[family.name] = family.type
        assert family.documentation, f"{family.name} does not say what it is"
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in samples, f"{key} is there twice"
            samples[key] = sample.value
    return samples, types


def one(samples, name, **labels):
    return samples[(name, tuple(sorted(labels.items())))]


def test_actions_of_clients_are_counted(server):
    document = server.create_note("Counted, and its name is not told")
    with NativeClient(server, "Ada") as ada, NativeClient(server, "Ben") as ben:
        joined = ada.join(document)
        ben.join(document)
        kind, _ = ada.change(document, joined, 1, ["one"])
        assert kind == "acknowledged"
        kind, data = ada.change(document, joined, 9, ["gap"])
        assert (kind, data["code"]) == ("refused", "sequenceGap")
        kind, _ = ben.raw_request("{", "")
        assert kind == "error"
        samples, types = scrape(server)
    assert one(samples, "parley_connections", dialect="native") == 2
    assert one(samples, "parley_connections", dialect="whaler") == 0
    assert one(samples, "parley_documents") == 1
    assert one(samples, "parley_document_subscriptions") == 2
    assert one(samples, "parley_messages_received_total", type="hello") == 2
    assert one(samples, "parley_messages_received_total", type="change") == 2
    assert one(samples, "parley_messages_received_total", type="malformed") == 1
    assert one(samples, "parley_changes_total") == 1
    assert one(samples, "parley_changes_refused_total", code="sequenceGap") == 1
    assert one(samples, "parley_acknowledgement_seconds_count") == 1
    assert one(samples, "parley_broadcast_seconds_bucket", le="+Inf") == 1
    assert one(samples, "parley_ready") == 1
    assert one(samples, "parley_store_batches_total") >= 2
    assert one(samples, "process_resident_memory_bytes") > 1 << 20
    assert one(samples, "process_open_fds") >= 5
    assert types["parley_changes"] == "counter"
    assert types["parley_acknowledgement_seconds"] == "histogram"


def test_closed_connections_are_no_longer_counted(server):
    with WhalerClient(server, "pool"):
        samples, _ = scrape(server)
        assert one(samples, "parley_connections", dialect="whaler") == 1
    with NativeClient(server, "Ada"):
        pass
    # The last connection's end is known when a later one's hello is answered.
    with NativeClient(server, "Ben"):
        samples, _ = scrape(server)
    assert one(samples, "parley_connections_opened_total") == 3
    assert one(samples, "parley_connections", dialect="whaler") == 0


def test_histograms_are_cumulative(server):
    document = server.create_note("Typed")
    with NativeClient(server, "Ada") as ada:
        joined = ada.join(document)
        for sequence in range(1, 21):
            operation = [f"{sequence % 10}"] if sequence == 1 else [sequence - 1, "x"]
            kind, data = ada.change(document, joined, sequence, operation)
            assert kind == "acknowledged"
            joined["revision"] = data["revision"]
        samples, _ = scrape(server)
    buckets = sorted(
        (float(dict(labels)["le"]), value)
        for (name, labels), value in samples.items()
        if name == "parley_acknowledgement_seconds_bucket"
    )
    assert [value for _, value in buckets] == sorted(value for _, value in buckets)
    assert buckets[-1] == (float("inf"), 20)
    assert one(samples, "parley_acknowledgement_seconds_sum") > 0


BEHIND_A_PROXY = {"X-Forwarded-For": "203.0.113.9"}


def test_rejects_requests_through_a_proxy(server):
    status, _, _ = server.request("GET", "/metrics", headers=BEHIND_A_PROXY)
    assert status == 403


@pytest.mark.parametrize("audience, expected", [("anyone", 200), ("nobody", 404)])
def test_the_operator_says_who_reads_metrics(start, audience, expected):
    server = start("--metrics", audience)
    status, _, _ = server.request("GET", "/metrics", headers=BEHIND_A_PROXY)
    assert status == expected


def test_the_dashboard_uses_existing_metrics(server):
    _, types = scrape(server)
    dashboard = json.loads((ROOT / "Packaging" / "grafana" / "parley.json").read_text())
    asked = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            asked |= set(re.findall(r"\b((?:parley|process)_\w+)\{", target["expr"]))
    assert len(asked) > 10
    for name in asked:
        assert re.sub(r"_(bucket|total)$", "", name) in types, name
