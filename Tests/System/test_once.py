"""Requests with an `Idempotency-Key`: performed once, also when the server is killed meanwhile."""

import http.client
import json
import random
import threading

import pytest


def send(server, method, path, body=None, key="k1", **headers):
    """Status, whether it is a repetition, headers and body of an answer."""
    fields = {"Idempotency-Key": key, **headers}
    status, answered, answer = server.request(method, path, body, fields)
    return status, answered.get("idempotency-replayed") == "true", answered, answer


def titles(server):
    return [note["title"] for note in json.loads(server.request("GET", "/api/notes")[2])["notes"]]


def test_a_note_requested_twice_is_created_once(server):
    status, is_repeated, headers, first = send(server, "POST", "/api/notes", {"title": "One"})
    assert (status, is_repeated) == (201, False)
    server.kill()
    server.start()
    status, is_repeated, again, second = send(server, "POST", "/api/notes", {"title": "One"})
    assert (status, is_repeated, second) == (201, True, first)
    assert again["location"] == headers["location"]
    assert again["content-type"] == headers["content-type"]
    assert titles(server) == ["One"]
    status, _, _, answer = send(server, "POST", "/api/notes", {"title": "Two"})
    assert (status, json.loads(answer)["code"]) == (422, "keyReused")
    assert send(server, "POST", "/api/notes", {"title": "Two"}, key="k2")[0] == 201
    assert sorted(titles(server)) == ["One", "Two"]


def test_an_edit_sent_twice_is_made_once(server):
    path = f"/api/notes/{server.create_note()}"
    edit = {"revision": 0, "operation": ["milk"]}
    for is_repeated in (False, True):
        status, repeated, headers, answer = send(server, "POST", f"{path}/changes", edit)
        assert (status, repeated, json.loads(answer)) == (200, is_repeated, {"revision": 1})
        assert headers["etag"] == '"1"'
    assert server.request("GET", f"{path}/text?format=text")[2] == b"milk"


def test_a_link_requested_twice_is_made_once_and_not_stored(server):
    path = f"/api/notes/{server.create_note()}/share"
    answers = [send(server, "POST", path, {"access": "read"}) for _ in range(2)]
    assert [answer[:2] for answer in answers] == [(201, False), (201, True)]
    assert answers[0][3] == answers[1][3]
    token = json.loads(answers[0][3])["token"].encode()
    server.stop()
    files = [file for file in server.data.rglob("*") if file.is_file()]
    assert files and not any(token in file.read_bytes() for file in files)
    server.start()


@pytest.mark.parametrize("key", ["", "a b", "\u00e9", "k" * 256])
def test_rejects_a_malformed_key(server, key):
    status, _, _, answer = send(server, "POST", "/api/notes", {"title": "x"}, key=key)
    assert (status, json.loads(answer)["code"]) == (400, "badMessage")
    assert titles(server) == []


def test_a_note_with_an_id_chosen_by_the_client(server):
    path = "/api/notes/made%20offline"
    assert server.request("PUT", path, {"title": "Mine"})[0] == 201
    status, _, note = server.request("PUT", path, {"title": "Mine"})
    assert (status, json.loads(note)["id"]) == (200, "made offline")
    status, _, answer = server.request("PUT", path, {"title": "Other"})
    assert (status, json.loads(answer)["code"]) == (409, "idTaken")
    assert server.request("DELETE", path)[0] == 204
    assert server.request("PUT", path, {"title": "Mine"})[0] == 410
    status, _, answer = server.request("POST", "/api/notes", {"title": "x", "id": "own"})
    assert status == 400 and "PUT /api/notes/{id}" in json.loads(answer)["message"]


def test_kills_in_the_middle_of_writing_lose_and_double_nothing(server):
    """Each program sends its request until it is answered, to a server that dies again and again."""
    rng = random.Random(18)
    note = f"/api/notes/{server.create_note('Edited')}"
    # Numbers that are no part of one another.
    jobs = [f"<{number}>" for number in range(48)]
    answered = threading.Event()
    done = []

    def request(job):
        number = jobs.index(job)
        if number % 3 == 0:
            edit = {"revision": 0, "operation": [job]}
            return "POST", f"{note}/changes", edit
        if number % 3 == 1:
            return "POST", "/api/notes", {"title": job}
        return "POST", "/api/rooms/r/publish", {"data": job}

    def write(mine):
        for job in mine:
            while True:
                try:
                    status = send(server, *request(job), key=f"key-{job}")[0]
                except (OSError, http.client.HTTPException):
                    continue
                if status < 300:
                    break
                assert status == 503
            done.append(job)
            answered.set()

    writers = [threading.Thread(target=write, args=(jobs[first::4],)) for first in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(5):
        # Kills come after an answer, when others are on their way.
        answered.wait(30)
        answered.clear()
        if rng.random() < 0.9:
            server.kill()
            server.start()
    for writer in writers:
        writer.join(60)
    assert sorted(done) == sorted(jobs)
    text = server.request("GET", f"{note}/text?format=text")[2].decode()
    assert sorted(text.replace("><", "> <").split()) == sorted(jobs[0::3])
    assert sorted(title for title in titles(server) if title != "Edited") == sorted(jobs[1::3])
    history = json.loads(server.request("GET", "/api/rooms/r/history?limit=100")[2])
    assert sorted(item["data"] for item in history["publications"]) == sorted(jobs[2::3])
