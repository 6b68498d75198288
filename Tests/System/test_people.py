"""People in rooms over real sockets, and the checks D1 to D4 of the chat family."""

import json
import time

import pytest
from hook_receiver import HookReceiver
from native_client import NativeClient
from test_rooms import publish, subscribe
from test_tokens import SECRET, token


@pytest.fixture
def hook():
    hook = HookReceiver()
    yield hook
    hook.close()


@pytest.fixture
def flags():
    """Further flags for the server."""
    return []


@pytest.fixture
def people(start, tmp_path, flags):
    """Lets people in by name, with these verbs in all rooms."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET + b"\n")
    server = start("--hmac-secret-file", str(secret), "--audience", "parley", *flags)
    clients = []

    def enter(user, verbs=("read", "publish", "presence")):
        client = NativeClient(server, greet=False)
        clients.append(client)
        rights = {"rooms": [{"match": "*", "may": list(verbs)}]}
        kind, client.welcome = client.request(
            "hello", {"name": user, "token": token(rights, sub=user, name=user)}
        )
        assert kind == "welcome", client.welcome
        return client

    enter.server = server
    yield enter
    for client in clients:
        client.close()


def ask(client, kind, data, expected=None):
    answer, reply = client.request(kind, data)
    assert answer == (expected or kind), (answer, reply)
    return reply


def code(client, kind, data):
    answer, reply = client.request(kind, data)
    return reply["code"] if answer == "error" else None


def quiet(client, *kinds):
    """Returns whether none of these messages was received."""
    return not [message for message in client.take_all() if message["type"] in kinds]


def test_presence_is_one_state_then_diffs_by_person(people):
    ann = people("ann")
    reply = subscribe(ann, "r", presence=True)
    assert [person["personId"] for person in reply["present"]] == ["ann"]
    ann.expect("roomPresence")
    ben, second = people("ben"), people("ben")
    reply = subscribe(ben, "r", presence=True)
    assert [person["personId"] for person in reply["present"]] == ["ann", "ben"]
    subscribe(second, "r", presence=True)
    joined = ann.expect("roomPresence", lambda data: "ben" in str(data["joined"]))["joined"]
    assert {"personId": "ben", "name": "ben"} in joined
    ask(ben, "unsubscribe", {"room": "r"}, "unsubscribed")
    ask(second, "unsubscribe", {"room": "r"}, "unsubscribed")
    assert ann.expect("roomPresence", lambda data: data["left"])["left"] == ["ben"]


def test_a_lost_connection_can_return_within_the_grace_period(people):
    ann, ben = people("ann"), people("ben")
    subscribe(ann, "r", presence=True)
    subscribe(ben, "r", presence=True)
    ann.expect("roomPresence", lambda data: "ben" in str(data["joined"]))
    ben.drop()
    again = people("ben")
    subscribe(again, "r", presence=True)
    assert quiet(ann, "roomPresence")
    dropped = time.monotonic()
    again.drop()
    assert ann.expect("roomPresence")["left"] == ["ben"]
    assert time.monotonic() - dropped > 4


def test_D1_typing_is_shown_ends_by_time_and_by_disconnect_and_not_to_the_blocked(people):
    ann, ben, eve = people("ann"), people("ben"), people("eve")
    for client in (ann, ben, eve):
        subscribe(client, "r")
    ask(eve, "block", {"personId": "ann", "blocked": True}, "blocks")
    ann.send("typing", {"room": "r", "typing": True})
    on = {"room": "r", "personId": "ann", "typing": True}
    off = {**on, "typing": False}
    assert ben.expect("typing") == on
    assert ben.expect("typing") == off, "it ends by itself"
    ann.send("typing", {"room": "r", "typing": True})
    assert ben.expect("typing") == on
    ann.drop()
    assert ben.expect("typing") == off
    assert quiet(eve, "typing")


def test_D2_receipts_rise_and_are_for_the_author_alone(people):
    ann, ben, eve = people("ann"), people("ben"), people("eve")
    for client in (ann, ben, eve):
        subscribe(client, "r")
    offset = publish(ann, "r", "hi")["offset"]
    where = {"room": "r", "offset": offset}
    for state, stands in (("delivered", "delivered"), ("read", "read"), ("delivered", "read")):
        reply = ask(ben, "receipt", {**where, "state": state})
        assert reply == {**where, "personId": "ben", "state": stands}
    assert [ann.expect("receipt")["state"] for _ in range(2)] == ["delivered", "read"]
    assert quiet(ann, "receipt") and quiet(eve, "receipt")
    assert ask(ann, "receipts", where)["receipts"] == [{"personId": "ben", "state": "read"}]
    assert code(eve, "receipts", where) == "notAllowed"
    assert code(ben, "receipt", {**where, "offset": 9, "state": "read"}) == "unknownPublication"
    assert code(ben, "receipt", {**where, "state": "lost"}) == "badMessage"


def test_D3_the_server_says_when_a_person_was_online_last(people):
    ann, ben = people("ann"), people("ben")
    for client in (ann, ben):
        ask(client, "follow", {"room": "r", "following": True}, "following")
    question = {"room": "r", "people": ["ben", "stranger"]}
    (item,) = ask(ann, "lastOnline", question)["people"]
    assert (item["personId"], item["online"]) == ("ben", True)
    before = int(time.time() * 1000)
    ben.drop()
    while True:
        (item,) = ask(ann, "lastOnline", question)["people"]
        if not item["online"]:
            break
    assert before - 1000 <= item["time"] <= int(time.time() * 1000)
    assert code(people("eve"), "lastOnline", question) == "notJoined"


class TestLastOnline:
    @pytest.fixture
    def flags(self):
        # A client that waits by asking again asks fast.
        rates = ["--connection-message-rate", "0", "--signs-rate", "10000"]
        return ["--last-online-interval", "1s", *rates]

    def test_D3_a_kill_forgets_no_more_than_the_interval(self, people):
        ann, ben = people("ann"), people("ben")
        for client in (ann, ben):
            ask(client, "follow", {"room": "r", "following": True}, "following")
        question = {"room": "r", "people": ["ben"]}

        def stamp(client):
            while True:
                kind, reply = client.request("lastOnline", question)
                if kind == "lastOnline":
                    return reply["people"][0].get("time", 0)
                assert reply["code"] == "busy"

        # Ben stays connected all the time.
        first = stamp(ann)
        while stamp(ann) == first:
            pass
        last = stamp(ann)
        people.server.kill()
        people.server.start()
        assert stamp(people("ann")) >= last > first


def test_D4_flags_reach_moderators_and_blocks_filter(people):
    ann, ben = people("ann"), people("ben")
    moderator = people("mod", ("read", "manage"))
    for client in (ann, ben, moderator):
        subscribe(client, "r")
    offset = publish(ann, "r", 1)["offset"]
    flag = {"room": "r", "offset": offset, "flagged": True, "reason": "spam"}
    ask(ben, "flag", flag)
    assert moderator.expect("flag") == {**flag, "personId": "ben"}
    (item,) = ask(moderator, "flags", {"room": "r"})["flags"]
    assert (item["offset"], item["personId"], item["reason"]) == (offset, "ben", "spam")
    assert code(ben, "flags", {"room": "r"}) == "notAllowed"
    ask(ben, "flag", {**flag, "flagged": False})
    assert moderator.expect("flag")["flagged"] is False
    assert quiet(ann, "flag")

    reply = ask(ben, "block", {"personId": "ann", "blocked": True}, "blocks")
    assert reply == {"people": ["ann"]}
    ben.take_all()
    publish(ann, "r", "unseen")
    publish(moderator_app(people), "r", "seen")
    assert [ben.expect("publication")["data"]] == ["seen"]
    assert quiet(ben, "publication")
    ask(ben, "block", {"personId": "ann", "blocked": False}, "blocks")
    publish(ann, "r", "again")
    assert ben.expect("publication")["data"] == "again"


def test_blocks_apply_over_http(people):
    ann, ben = people("ann"), people("ben")
    subscribe(ann, "r", presence=True)
    publish(ann, "r", "of ann")
    ask(ben, "block", {"personId": "ann", "blocked": True}, "blocks")
    publish(ben, "r", "of ben")
    rights = {"rooms": [{"match": "*", "may": ["read", "publish", "presence"]}]}

    def get(user, path):
        headers = {"Authorization": "Bearer " + token(rights, sub=user)}
        status, _, body = people.server.request("GET", f"/api/rooms/r/{path}", headers=headers)
        assert status == 200, body
        return json.loads(body)

    assert [item["data"] for item in get("cid", "history")["publications"]] == ["of ann", "of ben"]
    assert [item["data"] for item in get("ben", "history")["publications"]] == ["of ben"]
    assert [person["personId"] for person in get("cid", "presence")["present"]] == ["ann"]
    assert get("ben", "presence")["present"] == []
    assert code(ben, "block", {"personId": "key:backend", "blocked": True}) == "notAllowed"


def test_whose_right_to_presence_goes_is_shown_no_more(people):
    ann, ben = people("ann"), people("ben")
    subscribe(ann, "r", presence=True)
    subscribe(ben, "r", presence=True)
    # Who comes at one moment comes in one message.
    ann.expect("roomPresence", lambda data: "ben" in str(data["joined"]))
    narrow = token({"rooms": [{"match": "*", "may": ["read"]}]}, sub="ben", name="ben")
    ask(ben, "refresh", {"token": narrow}, "refreshed")
    assert ben.expect("roomPresence", lambda data: data["left"])["left"] == ["ann", "ben"]
    assert ann.expect("roomPresence", lambda data: data["left"])["left"] == ["ben"]
    publish(ann, "r", "still heard")
    assert ben.expect("publication")["data"] == "still heard"


def moderator_app(people):
    return people("app")


@pytest.mark.parametrize(
    "kind, data, expected",
    [
        ("typing", {"room": "r"}, "badMessage"), ("typing", {"room": "", "typing": True}, "tooLarge"),
        ("typing", {"room": "elsewhere", "typing": True}, "notJoined"),
        ("receipt", {"room": "r", "offset": "x", "state": "read"}, "badMessage"),
        ("receipt", {"room": "r", "offset": -1, "state": "read"}, "unknownPublication"),
        ("block", {"personId": "", "blocked": True}, "tooLarge"),
        ("block", {"personId": "x" * 201, "blocked": True}, "tooLarge"),
        ("block", {"personId": "ann", "blocked": True}, "notAllowed"),
        ("flag", {"room": "r", "offset": 1, "flagged": True}, "unknownPublication"),
        ("flag", {"room": "r", "offset": 1, "flagged": True, "reason": "x" * 201}, "tooLarge"),
        ("flags", {"room": "r"}, "notAllowed"),
        ("lastOnline", {"room": "r", "people": ["x"] * 101}, "tooMany"),
        ("lastOnline", {"room": "r", "people": "x"}, "badMessage"),
        ("follow", {"room": "x" * 201, "following": True}, "tooLarge"),
    ],
)  # fmt: skip
def test_malformed_messages_about_people_get_an_error_code(people, kind, data, expected):
    assert code(people("ann"), kind, data) == expected


def test_messages_about_people_need_their_rights(people):
    shy = people("shy", ("read",))
    assert code(shy, "subscribe", {"room": "r", "presence": True}) == "notAllowed"
    assert code(shy, "typing", {"room": "r", "typing": True}) == "notAllowed"
    assert code(shy, "lastOnline", {"room": "r", "people": []}) == "notAllowed"
    assert code(shy, "publish", {"room": "r", "data": 1}) == "notAllowed"
    deaf = people("deaf", ("publish",))
    for kind, data in (
        ("subscribe", {"room": "r"}), ("follow", {"room": "r", "following": True}),
        ("flag", {"room": "r", "offset": 1, "flagged": True}),
        ("receipt", {"room": "r", "offset": 1, "state": "read"}),
    ):  # fmt: skip
        assert code(deaf, kind, data) == "notAllowed"


def test_a_flood_of_presence_is_refused_and_reaches_no_client(people):
    ann, ben = people("ann"), people("ben")
    subscribe(ann, "r", presence=True)
    ann.expect("roomPresence")
    for _ in range(400):
        ben.send("subscribe", {"room": "r", "presence": True})
        ben.send("unsubscribe", {"room": "r"})
    errors = [message["data"] for message in ben.take_all() if message["type"] == "error"]
    busy = [error for error in errors if error["code"] == "tooFast"]
    assert busy and all(error["retryable"] for error in busy)
    changes = [message for message in ann.take_all() if message["type"] == "roomPresence"]
    assert len(changes) < 100, "several changes of a moment come in one message"


class TestBlocksBothWays:
    @pytest.fixture
    def flags(self):
        return ["--block-both-ways"]

    def test_D4_the_blocked_do_not_hear_of_the_blocker_either(self, people):
        ann, ben, cid = people("ann"), people("ben"), people("cid")
        for client in (ann, ben, cid):
            subscribe(client, "r", presence=True)
        ann.expect("roomPresence", lambda data: "ben" in str(data["joined"]))
        ask(ben, "block", {"personId": "ann", "blocked": True}, "blocks")
        assert ann.expect("roomPresence", lambda data: data["left"])["left"] == ["ben"]
        publish(ben, "r", "of ben")
        publish(ann, "r", "of ann")
        publish(cid, "r", "of cid")
        for client, heard in ((ann, ["of ann", "of cid"]), (ben, ["of ben", "of cid"])):
            assert [client.expect("publication")["data"] for _ in heard] == heard
            page = ask(client, "roomHistory", {"room": "r"})
            assert [item["data"] for item in page["publications"]] == heard
        ben.send("typing", {"room": "r", "typing": True})
        assert cid.expect("typing")["personId"] == "ben"
        typing = [message["data"] for message in ann.take_all() if message["type"] == "typing"]
        assert not any(data["typing"] for data in typing)


class TestHooks:
    @pytest.fixture
    def flags(self, hook):
        return ["--push-url", hook.url]

    def test_D4_the_push_hook_is_called_once_for_each_follower_who_is_offline(self, people, hook):
        ann, here = people("ann"), people("here")
        for user in ("away", "gone"):
            client = people(user)
            ask(client, "follow", {"room": "r", "following": True}, "following")
            client.close()
        for client in (ann, here):
            ask(client, "follow", {"room": "r", "following": True}, "following")
        # Until the server has seen that they are gone.
        question = {"room": "r", "people": ["away", "gone"]}
        while any(item["online"] for item in ask(here, "lastOnline", question)["people"]):
            pass
        publish(ann, "r", {"text": "quiet"})
        published = publish(ann, "r", {"text": "hello", "type": "chat"}, push=True)
        calls = [hook.next().data, hook.next().data]
        assert sorted(call.pop("user_entity_id") for call in calls) == ["away", "gone"]
        assert calls[0] == calls[1]
        assert calls[0].pop("message_date") > 0
        assert calls[0] == {
            "action": "message", "content": "hello", "thread_entity_id": "r",
            "message_entity_id": f"{published['epoch']}/{published['offset']}",
            "message_sender_entity_id": "ann", "message_type": "chat",
            "message_payload": {"text": "hello", "type": "chat"},
        }  # fmt: skip
        publish(ann, "r", {"text": "once more"}, push=True)
        assert {hook.next().data["content"] for _ in range(2)} == {"once more"}
        assert hook.calls.empty()

    @pytest.fixture
    def ann(self, people):
        """Ann, and a person who follows the room and is known to be away."""
        away, ann = people("away"), people("ann")
        for client in (away, ann):
            ask(client, "follow", {"room": "r", "following": True}, "following")
        away.close()
        question = {"room": "r", "people": ["away"]}
        while ask(ann, "lastOnline", question)["people"][0]["online"]:
            pass
        return ann

    def test_a_push_survives_a_kill_and_keeps_its_id(self, ann, people, hook):
        hook.answer = lambda call: 500
        publish(ann, "r", "hello", push=True)
        failed = hook.next()
        people.server.kill()
        hook.answer = lambda call: 204
        people.server.start()
        call = hook.next_taken()
        assert (call.id, call.body) == (failed.id, failed.body)
        assert call.data["user_entity_id"] == "away"

    def test_pushes_are_stored_together_with_the_publication(self, ann, people, hook):
        publish(ann, "r", "hello", push=True)
        people.server.kill()
        people.server.start()
        assert hook.next_taken().data["content"] == "hello"


class TestRoomEvents:
    @pytest.fixture
    def flags(self, hook):
        return ["--room-events-url", hook.url]

    def test_rooms_are_occupied_by_the_first_and_vacated_by_the_last(self, people, hook):
        ann, ben = people("ann"), people("ben")
        subscribe(ann, "r")
        assert hook.next().data == {"action": "occupied", "room": "r"}
        subscribe(ben, "r")
        ask(ann, "unsubscribe", {"room": "r"}, "unsubscribed")
        ben.drop()
        assert hook.next().data == {"action": "vacated", "room": "r"}
        assert hook.calls.empty()
