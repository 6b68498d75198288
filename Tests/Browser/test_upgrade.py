"""A page that was opened before an upgrade of the server, and requests files that no longer exist."""

import re
import shutil

import pytest
from conftest import WEB, Server, wait_until
from playwright.sync_api import expect

WORKER = True


class Upgradable:
    """A server whose page can be replaced by that of another build."""

    def __init__(self, folder):
        self.web = folder / "web"
        shutil.copytree(WEB, self.web)
        self.server = Server(folder, web=self.web)

    def upgrade(self):
        """Renames all files, as if each had changed."""
        texts = [path for path in self.web.rglob("*") if path.suffix in (".html", ".js", ".css")]
        names = {path.name for path in (self.web / "immutable").iterdir()}
        build = re.search(r'name="build" content="(\w+)', (self.web / "index.html").read_text())[1]
        hashes = {match[1] for name in names if (match := re.search(r"-(\w{10})\.", name))}
        for path in texts:
            text = path.read_text()
            for one in hashes:
                text = text.replace(f"-{one}.", f"-{one[::-1]}.")
            # The worker contains the build of its page.
            text = text.replace(f'"{build}"', f'"{build[::-1]}"') if path.name == "worker.js" else text
            text = re.sub(r'(name="build" content=")(\w+)', lambda match: match[1] + match[2][::-1], text)
            path.write_text(text)
        for path in list(self.web.rglob("*")):
            if path.suffix in (".br", ".gz"):
                path.unlink()
            elif match := re.search(r"^(.*-)(\w{10})(\.\w+)$", path.name):
                path.rename(path.with_name(match[1] + match[2][::-1] + match[3]))


@pytest.fixture
def upgradable(tmp_path):
    if not (WEB / "immutable").is_dir():
        pytest.skip("the page is served as it was written")
    running = Upgradable(tmp_path)
    yield running
    running.server.stop()


@pytest.fixture
def server(upgradable):
    return upgradable.server


def mark(page):
    """Marks a document. A reload removes the mark."""
    page.evaluate("document.documentElement.dataset.before = 'yes'")


def is_marked(page):
    return page.locator("html[data-before]").count() == 1


def wait_for_reload(page):
    expect(page.locator("html[data-before]")).to_have_count(0)


def test_an_old_tab_reloads_itself_if_a_part_no_longer_exists(server, upgradable, person):
    note = server.create("Upgraded")
    ann = person("Ann").open(note)
    ann.type("before")
    ann.wait_until_saved()
    mark(ann.page)
    upgradable.upgrade()
    # Loaded parts still work.
    ann.type(" and after")
    ann.wait_until_saved()
    assert is_marked(ann.page)
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="History").click()
    # The reloaded page shows the history.
    expect(ann.page.locator("#history")).to_be_visible()
    wait_for_reload(ann.page)
    ann.page.get_by_role("button", name="Back to the note").click()
    ann.wait_for_text("before and after")


def test_unsaved_text_outlives_the_reload(server, upgradable, person):
    note = server.create("Offline")
    ann = person("Ann").open(note)
    mark(ann.page)
    upgradable.upgrade()
    # Sockets fail until the page has been reloaded, so the text is unsaved.
    is_down = True
    ann.page.route_web_socket(
        re.compile(r"/ws$"),
        lambda socket: socket.close(code=1011) if is_down else socket.connect_to_server(),
    )
    server.kill()
    ann.wait_for_status("offline")
    # An HTML tag requires another part. The server is down, so the page cannot detect the newer build.
    ann.type("kept <b>words</b>")
    server.start()
    ann.press("Alt+h")
    wait_for_reload(ann.page)
    is_down = False
    expect(ann.page.locator("#history")).to_be_visible()
    ann.page.get_by_role("button", name="Back to the note").click()
    ann.wait_until_saved()
    bo = person("Bo").open(note)
    wait_until(lambda: "words" in (bo.text() or ""))
    assert bo.text() == ann.text() and bo.text().count("kept") == 1


def test_a_missing_part_for_colours_does_not_reload_the_page_during_typing(server, upgradable, person):
    note = server.create("Coloured")
    ann = person("Ann").open(note)
    mark(ann.page)
    upgradable.upgrade()
    with ann.page.expect_response(re.compile(r"/html-")) as refused:
        ann.type("kept <b>words</b>")
    assert refused.value.status == 404
    ann.wait_until_saved()
    # The next part that the user requests reloads the page.
    ann.press("Alt+h")
    expect(ann.page.locator("#history")).to_be_visible()
    wait_for_reload(ann.page)
    ann.page.get_by_role("button", name="Back to the note").click()
    ann.wait_for_text("kept <b>words</b>")


def test_a_cached_page_whose_files_no_longer_exist_reloads_itself(server, upgradable, person):
    """A browser that restores tabs shows the old page from its cache, but the page's files no longer exist."""
    ann = person("Ann")
    old = (upgradable.web / "index.html").read_text()
    upgradable.upgrade()
    (upgradable.web / "immutable" / re.search(r"first-\w+\.js", old)[0]).write_text(
        next((upgradable.web / "immutable").glob("first-*.js")).read_text()
    )
    served = []

    def answer(route):
        if served:
            route.continue_()
        else:
            served.append(route)
            route.fulfill(body=old, content_type="text/html; charset=utf-8")

    ann.page.route(server.url + "/", answer)
    ann.page.goto("/")
    expect(ann.page.locator("#me-name")).not_to_be_empty()
    expect(ann.page.get_by_role("alert")).to_have_count(0)
