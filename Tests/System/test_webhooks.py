"""Webhooks over real sockets: signed, in order, at least once, whichever side fails in between."""

import base64
import json
import re
import subprocess

import pytest
from hook_receiver import DROP, HANG, HookReceiver
from native_client import NativeClient
from parley_server import PROGRAM, ROOT
from test_doctor import examine
from test_metrics import scrape
from test_rooms import publish, subscribe
from test_tokens import SECRET, token

PAGE = (ROOT / "Documentation" / "Webhooks.md").read_text()
GOLDEN = {
    kind: json.loads(text)
    for kind, text in re.findall(r"<!-- golden (\S+) -->\n```json\n(.*)\n```", PAGE)
}
SECRETS = ["whsec_" + base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2)]
QUICK = ["--webhook-batch-delay", "0s", "--webhook-retry-min", "20ms", "--webhook-retry-max", "50ms"]


@pytest.fixture
def receiver():
    receiver = HookReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def hooked(start, receiver):
    """Starts a server that calls the receiver."""
    return lambda *flags: start("--webhook-url", receiver.url, *QUICK, *flags)


def patch(server, note, title):
    assert server.request("PATCH", f"/api/notes/{note}", {"title": title})[0] == 200


def delete(server, note):
    assert server.request("DELETE", f"/api/notes/{note}")[0] == 204


def write(server, note, changes):
    """Makes a number of changes to a new note."""
    with NativeClient(server) as client:
        joined = client.join(note)
        for number in range(changes):
            operation = ([number] if number else []) + ["x"]
            kind, data = client.change(note, joined, number + 1, operation, revision=number)
            assert (kind, data["revision"]) == ("acknowledged", number + 1)


def is_about(note, kind):
    return lambda event: event["type"] == kind and event["data"]["note"]["id"] == note


def dead_letters(server):
    ended = subprocess.run(
        [PROGRAM, "webhooks", "--data-dir", server.data], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


def shape(value):
    """Returns the form of a value: its fields and their types."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def documented_check():
    """Returns the function in the page's example."""
    (code,) = re.findall(r"<!-- tested -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(code, names)
    return names["is_from_parley"]


# MARK: The page


def test_the_page_documents_every_event():
    rows = dict(re.findall(r"^\| `([a-z.]+)` \| (yes|no) \|", PAGE, re.MULTILINE))
    text = subprocess.run([PROGRAM, "serve", "--help-all"], capture_output=True, text=True).stdout
    (known, standard) = re.findall(r"--webhook-events EVENT\s(.*?)\.\s+\[(.*?)\]", text, re.DOTALL)[0]
    kind = re.compile(r"[a-z]+\.[a-z]+")
    assert sorted(rows) == sorted(kind.findall(known))
    assert [name for name in kind.findall(known) if rows[name] == "yes"] == kind.findall(standard)
    assert set(GOLDEN) == {"call", *rows}


def test_every_event_looks_as_documented(start, receiver, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    kinds = [kind for kind in GOLDEN if kind != "call"]
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--webhook-url", receiver.url, *QUICK,
        "--webhook-events", ",".join(kinds), "--webhook-change-interval", "100ms",
        "--presence-grace", "0s", "--webhook-values", "board-*=card-*",
    )  # fmt: skip
    everything = ["read", "write", "publish", "presence", "manage"]
    rights = {part: [{"match": "*", "may": everything}] for part in ("rooms", "documents")}
    bearer = token(rights, sub="u-ann", name="Ann")
    headers = {"Authorization": f"Bearer {bearer}"}

    def request(method, path, body=None):
        status, _, answer = server.request(method, path, body, headers)
        assert status in (200, 201, 204), answer
        return json.loads(answer or b"{}")

    note = request("POST", "/api/notes", {"title": "Minutes"})["id"]
    request("PATCH", f"/api/notes/{note}", {"title": "Minutes of May"})
    request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": ["text"]})
    with NativeClient(server, greet=False) as ann:
        kind, _ = ann.request("hello", {"name": "Ann", "token": bearer})
        assert kind == "welcome"
        subscribe(ann, "orders", presence=True)
        ann.expect("roomPresence")
        offset = publish(ann, "orders", {"order": 17})["offset"]
        flag = {"room": "orders", "offset": offset, "flagged": True, "reason": "spam"}
        assert ann.request("flag", flag)[0] == "flag"
        assert ann.request("flag", {**flag, "flagged": False})[0] == "flag"
    operations = [{"merge": "card-7", "with": {"column": "done"}}, {"add": "moves", "by": 1}]
    request("PATCH", "/api/rooms/board-1/values", {"values": operations})
    remark = {"text": "Which?", "anchor": {"revision": 1, "from": 0, "to": 4}}
    path = f"/api/notes/{note}/comments"
    comment = f"{path}/{request('POST', path, remark)['id']}"
    for change in ({"text": "Which one?"}, {"resolved": True}, {"resolved": False}):
        request("PATCH", comment, change)
    request("DELETE", comment)
    request("DELETE", f"/api/notes/{note}")
    request("POST", f"/api/deleted/{note}/restore")
    request("PATCH", f"/api/notes/{note}", {"folder": "team/minutes"})
    seen = {}
    while set(seen) != set(kinds):
        call = receiver.next()
        assert call.path == "/hook?app=1"
        assert call.headers["content-type"] == "application/json"
        assert shape(call.data)["events"][0].keys() == GOLDEN["call"]["events"][0].keys()
        for event in call.events:
            seen.setdefault(event["type"], event["data"])
    for kind, data in seen.items():
        assert shape(data) == shape(GOLDEN[kind]), kind
    assert seen["note.changed"]["note"]["revision"] == 1
    assert seen["room.published"]["data"] == {"order": 17}
    assert seen["values.changed"]["values"] == operations[:1]
    assert seen["person.left"]["personId"] == "u-ann"


def test_the_documented_check_knows_calls_through_a_change_of_secrets(hooked, receiver, tmp_path):
    secrets = tmp_path / "secrets"
    secrets.write_text(f"# The first.\n{SECRETS[0]}\n")
    server = hooked("--webhook-secret-file", secrets)
    is_from_parley = documented_check()
    call = receiver.next()
    assert len(call.headers["webhook-signature"].split()) == 1
    assert is_from_parley(call.headers, call.body, SECRETS[0])
    assert not is_from_parley(call.headers, call.body, SECRETS[1])
    assert not is_from_parley(call.headers, call.body + b" ", SECRETS[0])
    assert not is_from_parley({**call.headers, "webhook-id": "x"}, call.body, SECRETS[0])
    now = int(call.headers["webhook-timestamp"])
    assert is_from_parley(call.headers, call.body, SECRETS[0], now=now + 299)
    assert not is_from_parley(call.headers, call.body, SECRETS[0], now=now + 301)

    secrets.write_text(f"{SECRETS[1]}\n\n{SECRETS[0]}\n")
    while len(call.headers["webhook-signature"].split()) == 1:
        server.create_note()
        call = receiver.next()
    assert all(is_from_parley(call.headers, call.body, secret) for secret in SECRETS)


# MARK: At least once, in order


@pytest.mark.parametrize(
    "answer", [500, 302, 401, 422, (503, {"Retry-After": "1"}), DROP, HANG], ids=str
)
def test_failed_events_are_sent_again_in_order(hooked, receiver, answer):
    calls = []

    def fail_at_first(call):
        calls.append(call)
        return answer if len(calls) < 4 else 204

    receiver.answer = fail_at_first
    server = hooked("--webhook-timeout", "1s")
    note = server.create_note("First")
    for title in ("Second", "Third"):
        patch(server, note, title)
    delete(server, note)
    events = receiver.events_until(is_about(note, "note.deleted"))
    assert [event["type"] for event in events] == [
        "server.started", "note.created", "note.renamed", "note.renamed", "note.deleted",
    ]  # fmt: skip
    assert [event["data"]["note"].get("title") for event in events[1:4]] == [
        "First", "Second", "Third",
    ]  # fmt: skip
    assert len({event["id"] for event in events}) == len(events)
    for call in calls:
        assert call.events[0] in events, "an event looks the same each time"
        same = [other for other in calls if other.events == call.events]
        assert {other.id for other in same} == {call.id}


def test_a_kill_between_event_and_delivery_loses_nothing(hooked, receiver):
    receiver.answer = lambda call: HANG
    server = hooked()
    first = receiver.next()
    note = server.create_note("Written")
    patch(server, note, "Before the kill")
    server.kill()
    receiver.released.set()
    receiver.answer = lambda call: 204
    server.start()
    events = receiver.events_until(is_about(note, "note.renamed"))
    kinds = [event["type"] for event in events if event["type"] != "server.started"]
    assert kinds == ["note.created", "note.renamed"]
    assert first.events[0] in events, "what was on its way is sent again, under its id"


def test_a_kill_while_a_change_is_held_back_loses_nothing(hooked, receiver):
    server = hooked("--webhook-change-interval", "1s")
    note = server.create_note()
    write(server, note, 3)
    server.kill()
    server.start()
    events = receiver.events_until(is_about(note, "note.changed"))
    assert events[-1]["data"]["note"]["revision"] == 3


def test_answers_lost_by_kills_make_repeats_with_the_same_id(hooked, receiver):
    server = hooked()
    hung, taken = [], []
    for _ in range(5):
        receiver.answer = lambda call: HANG
        note = server.create_note()
        while True:
            call = receiver.next()
            if call.answer == HANG:
                hung += call.events
                break
            taken += call.events
        server.kill()
        receiver.answer = lambda call: 204
        server.start()
    taken += receiver.events_until(is_about(note, "note.created"))
    assert len(hung) >= 5
    assert all(event in taken for event in hung)


def test_an_edited_note_makes_one_event_in_each_interval(hooked, receiver):
    server = hooked("--webhook-change-interval", "1h")
    note = server.create_note()
    write(server, note, 20)
    patch(server, note, "Written in")
    delete(server, note)
    events = receiver.events_until(is_about(note, "note.deleted"))
    mine = [event for event in events if "note" in event["data"]]
    assert [event["type"] for event in mine] == [
        "note.created", "note.renamed", "note.changed", "note.deleted",
    ]  # fmt: skip
    assert mine[2]["data"]["note"]["revision"] == 20


def test_the_last_change_is_sent(hooked, receiver):
    server = hooked("--webhook-change-interval", "50ms")
    note = server.create_note()
    write(server, note, 100)
    events = receiver.events_until(
        lambda event: is_about(note, "note.changed")(event)
        and event["data"]["note"]["revision"] == 100
    )
    revisions = [
        event["data"]["note"]["revision"] for event in events if event["type"] == "note.changed"
    ]
    assert revisions == sorted(set(revisions)), "they rise"


# MARK: Batches and limits


def test_waiting_events_are_sent_together_up_to_a_number(hooked, receiver):
    receiver.answer = lambda call: HANG
    server = hooked("--webhook-batch-max", "4")
    receiver.next()
    for number in range(10):
        server.create_note(f"{number}")
    receiver.answer = lambda call: 204
    receiver.released.set()
    sizes, titles = [], []
    while len(titles) < 10:
        call = receiver.next_taken()
        sizes.append(len(call.events))
        titles += [e["data"]["note"]["title"] for e in call.events if "note" in e["data"]]
    assert titles == [f"{number}" for number in range(10)]
    assert sizes == [4, 4, 3]


def test_waiting_events_are_sent_together_up_to_a_size(hooked, receiver):
    receiver.answer = lambda call: HANG
    server = hooked("--webhook-batch-size-max", "1 KiB")
    receiver.next()
    for _ in range(6):
        server.create_note("x" * 150)
    receiver.answer = lambda call: 204
    receiver.released.set()
    count = 0
    while count < 6:
        call = receiver.next_taken()
        assert len(call.body) < 2048
        count += sum("note" in event["data"] for event in call.events)


def test_gone_makes_dead_letters_at_once_and_later_events_continue(hooked, receiver):
    receiver.answer = lambda call: 410 if b"Unwanted" in call.body else 204
    server = hooked()
    receiver.next_taken()
    server.create_note("Unwanted")
    assert receiver.next().answer == 410
    note = server.create_note("Wanted")
    events = receiver.events_until(is_about(note, "note.created"))
    assert [event["type"] for event in events] == ["note.created"]
    (letter,) = dead_letters(server)
    assert letter["data"]["note"]["title"] == "Unwanted"
    assert (letter["target"], letter["type"], letter["reason"]) == (
        "webhook", "note.created", "unwanted",
    )  # fmt: skip
    samples, _ = scrape(server)
    assert samples[("parley_webhook_events_total", (("outcome", "unwanted"),))] == 1
    assert samples[("parley_webhook_dead_letters", (("target", "webhook"),))] == 1


def test_a_rejected_event_does_not_affect_others(hooked, receiver):
    receiver.answer = lambda call: HANG
    server = hooked()
    receiver.next()
    note = server.create_note("First")
    server.create_note("Poison")
    last = server.create_note("Last")
    server.kill()
    receiver.answer = lambda call: 422 if b"Poison" in call.body else 204
    receiver.released.set()
    server.flags += ["--webhook-give-up-age", "0s"]
    server.start()
    events = receiver.events_until(is_about(last, "note.created"))
    assert any(is_about(note, "note.created")(event) for event in events)
    (letter,) = dead_letters(server)
    assert (letter["data"]["note"]["title"], letter["reason"]) == ("Poison", "tooOld")


def test_a_full_queue_drops_its_oldest_events_and_reports_it(hooked, receiver):
    receiver.answer = lambda call: 500
    server = hooked("--webhook-queue-max", "3", "--webhook-dead-letters-max", "2")
    receiver.next()
    for number in range(6):
        server.create_note(f"{number}")
    letters = dead_letters(server)
    assert [letter["data"]["note"]["title"] for letter in letters] == ["2", "1"]
    assert {letter["reason"] for letter in letters} == {"crowdedOut"}
    samples, _ = scrape(server)
    assert samples[("parley_webhook_queue", (("target", "webhook"),))] == 3
    assert samples[("parley_webhook_events_total", (("outcome", "crowdedOut"),))] == 4
    receiver.answer = lambda call: 204
    titles = []
    while "5" not in titles:
        titles += [e["data"]["note"]["title"] for e in receiver.next_taken().events]
    assert titles == ["3", "4", "5"]


def test_only_requested_events_are_sent(hooked, receiver):
    server = hooked("--webhook-events", "note.deleted")
    note = server.create_note()
    patch(server, note, "Renamed")
    delete(server, note)
    call = receiver.next()
    assert [event["type"] for event in call.events] == ["note.deleted"]


def test_changes_of_chosen_values_are_sent_once_with_their_operations_alone(hooked, receiver):
    server = hooked(
        "--webhook-events", "values.changed", "--webhook-values", "board-*=card-*",
        "--webhook-values", "a=b=*",
    )  # fmt: skip

    def change(room, *operations, key=None, expected=200, **conditions):
        body = {"values": operations, **conditions} | ({"key": key} if key else {})
        status, _, answer = server.request("PATCH", f"/api/rooms/{room}/values", body)
        assert status == expected, answer

    moved = {"merge": "card-1", "with": {"column": "done"}}
    counted = {"add": "moves", "by": 1}
    for _ in range(2):
        change("board-1", counted, moved, counted, {"delete": "card-2"}, key="k1")
    change("board-1", counted)
    change("other", moved)
    change("board-1", moved, expected=409, ifOffsets={"card-1": 99})
    change("a=b", {"set": "x", "to": None})
    change("board-2", {"set": "card-1", "to": 1, "ttl": 1})
    (first, second, third, fourth) = receiver.events_until(
        lambda event: event["data"]["values"] == [{"delete": "card-1"}]
    )
    assert {event["type"] for event in (first, second, third, fourth)} == {"values.changed"}
    assert first["data"]["values"] == [moved, {"delete": "card-2"}]
    assert (first["data"]["room"], first["data"]["offset"]) == ("board-1", 1)
    assert "data" not in first["data"]
    assert (second["data"]["room"], second["data"]["values"]) == ("a=b", [{"set": "x", "to": None}])
    assert third["data"]["values"] == [{"set": "card-1", "to": 1, "ttl": 1}]
    assert (fourth["data"]["room"], fourth["data"]["offset"]) == ("board-2", 2)


@pytest.mark.parametrize(
    "flags, expected",
    [
        (["--webhook-url", "ftp://x/"], "https://app.example.org/parley"),
        (["--webhook-url", "http://user:secret@x/"], "without a password"),
        (["--webhook-events", "note.created,note.gone"], "note.renamed"),
        (["--webhook-values", "board-*"], "board-*=card-*"),
        (["--webhook-values", "=card-*"], "board-*=card-*"),
        (["--webhook-retry-min", "10m"], "webhook-retry-max"),
        (["--webhook-queue-max", "0"], "from 1 to"),
    ],
)
def test_invalid_settings_are_refused(flags, expected):
    ended = subprocess.run([PROGRAM, "check", *flags], capture_output=True, text=True)
    assert ended.returncode == 2 and expected in ended.stderr


def test_a_file_without_usable_secrets_is_refused(tmp_path):
    secrets = tmp_path / "secrets"
    for text in ("", "too short\n", "whsec_no base64\n", "whsec_AAAA\n"):
        secrets.write_text(text)
        ended = subprocess.run(
            [PROGRAM, "serve", "--port", "0", "--data-dir", tmp_path, "--web-dir", ROOT / "Web",
             "--webhook-url", "http://127.0.0.1:9/", "--webhook-secret-file", secrets],
            capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == 1 and "secrets" in ended.stderr
        assert "too short\n" not in ended.stderr and "AAAA" not in ended.stderr


# MARK: Operators


def test_the_doctor_checks_webhooks(hooked, receiver, tmp_path):
    receiver.answer = lambda call: 500
    server = hooked()
    server.create_note()
    receiver.next()
    server.kill()
    url = ["--webhook-url", receiver.url]
    _, findings = examine(server.data, *url)
    texts = dict((text, severity) for severity, text in findings["webhooks"])
    assert texts["2 events wait for webhook"] == "ok"
    assert any("not signed" in text for text in texts)
    _, findings = examine(server.data)
    (finding,) = findings["webhooks"]
    assert finding[0] == "warning" and "no longer has an address" in finding[1]
    secrets = tmp_path / "secrets"
    secrets.write_text(SECRETS[0])
    _, findings = examine(
        tmp_path, "--webhook-url", "http://app.example.org/x", "--webhook-secret-file", secrets
    )
    (finding,) = findings["webhooks"]
    assert finding[0] == "warning" and "use https" in finding[1]
    code, findings = examine(tmp_path, *url, "--webhook-secret-file", tmp_path / "none")
    assert code == 1 and findings["webhooks"][0][0] == "problem"
    receiver.answer = lambda call: 204
    server.start()


def test_the_metrics_count_waiting_and_settled_events(hooked, receiver):
    server = hooked()
    receiver.next_taken()
    note = server.create_note()
    receiver.events_until(is_about(note, "note.created"))
    while True:
        samples, _ = scrape(server)
        if samples.get(("parley_webhook_events_total", (("outcome", "told"),))) == 2:
            break
    assert samples[("parley_webhook_calls_total", (("outcome", "accepted"),))] == 2
    assert samples[("parley_webhook_oldest_seconds", (("target", "webhook"),))] >= 0


def test_without_webhooks_there_are_no_events(server):
    samples, _ = scrape(server)
    assert not [name for name, _ in samples if name.startswith("parley_webhook")]


def test_https_certificates_are_verified(start, receiver):
    url = receiver.url.replace("http://", "https://")
    server = start("--webhook-url", url, *QUICK)
    server.create_note()
    while True:
        samples, _ = scrape(server)
        if samples.get(("parley_webhook_calls_total", (("outcome", "failed"),)), 0) > 1:
            break
    assert receiver.calls.empty()
