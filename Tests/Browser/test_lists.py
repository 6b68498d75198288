"""A reload requests each list once, and the server sends only changed lists again."""

import collections
import urllib.parse

from conftest import wait_until
from playwright.sync_api import expect
from test_offline import kept, wait_until_kept

NOTES = 150


class Traffic:
    """The API's answers to a page."""

    def __init__(self, page):
        self.responses = []
        page.on("response", lambda response: self.responses.append(response))

    def start(self):
        self.responses.clear()

    def of(self, path):
        """Returns the answer to GET at a path, regardless of the query."""
        (response,) = [response for response in self.all if path_of(response) == path]
        return response

    @property
    def all(self):
        return [one for one in self.responses if one.request.method == "GET" and path_of(one).startswith("/api/")]

    def twice(self):
        """Returns the paths that were requested more than once."""
        counts = collections.Counter(path_of(response) for response in self.all)
        return [path for path, count in counts.items() if count > 1]

    def statuses(self):
        return {path_of(response): response.status for response in self.all}


def path_of(response):
    return urllib.parse.urlsplit(response.url).path


def body_size(response):
    return response.request.sizes()["responseBodySize"]


def fill(server):
    for number in range(NOTES):
        server.request("POST", "/api/notes", {"title": f"Plan {number} of the garden and the kitchen"})
    note = server.request("POST", "/api/notes", {"title": "Commented", "folder": "team/minutes"})["id"]
    server.insert_text(note, "Some words with a #tag")
    anchor = {"revision": 1, "from": 0, "to": 4}
    server.request("POST", f"/api/notes/{note}/comments", {"text": "Which?", "author": "Bo", "anchor": anchor})
    # The server finds the tags some time after the last edit, and pages request them again when they change.
    wait_until(lambda: server.request("GET", "/api/tags")["tags"])
    return note


def test_a_reload_requests_each_list_once_and_unchanged_lists_are_not_sent(server, person):
    note = fill(server)
    comments = f"/api/notes/{note}/comments"
    ann = person("Ann", worker=True)
    traffic = Traffic(ann.page)
    ann.page.goto("/")
    expect(ann.page.locator("#notes .note-link")).to_have_count(NOTES + 1)
    wait_until_kept(ann)
    wait_until(lambda: " lists " in kept(ann))
    whole = body_size(traffic.of("/api/notes"))

    def reload(path):
        """Reloads a view until it sends no more requests. Returns the paths that were requested twice."""
        ann.page.goto("about:blank")
        traffic.start()
        ann.page.goto(path)
        wanted = {"/api/notes", "/api/folders", "/api/tags"} | ({comments} if "/n/" in path else set())
        wait_until(lambda: ann.page.evaluate("true") and wanted <= set(traffic.statuses()))
        # Repeated requests would be sent before the network is idle.
        ann.page.wait_for_load_state("networkidle")
        return traffic.twice()

    views = ["/", f"/n/{note}", f"/n/{note}#view=page", f"/n/{note}#view=beside", f"/n/{note}#history"]
    asked = {view: reload(view) for view in views}
    assert asked == {view: [] for view in views}

    # Nothing has changed since the last requests.
    assert reload(f"/n/{note}") == []
    wait_until(lambda: comments in kept(ann))
    assert reload(f"/n/{note}") == []
    assert traffic.statuses() == {"/api/notes": 304, "/api/folders": 304, "/api/tags": 304, comments: 304}
    expect(ann.page.locator("#notes .note-link")).to_have_count(NOTES + 1)
    expect(ann.page.locator("#comments")).to_contain_text("1")

    # Only a title changes, while no page is connected.
    ann.page.goto("about:blank")
    first = server.request("GET", "/api/notes")["notes"][-1]["id"]
    server.request("PATCH", f"/api/notes/{first}", {"title": "Another title"})
    assert reload("/") == []
    expect(ann.page.locator("#notes .note-title", has_text="Another title")).to_have_count(1)
    answer = traffic.of("/api/notes")
    assert (answer.status, traffic.of("/api/folders").status) == (200, 304)
    assert len(answer.json()["parts"]) == 1
    assert body_size(answer) < whole / 3, (body_size(answer), whole)
