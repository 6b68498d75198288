"""Whatever strangers name things, nothing runs: in a browser that takes no notice of the page's policy."""

import io
import json
import unicodedata
import urllib.request
import zipfile

import pytest
from conftest import wait_until
from playwright.sync_api import Error, expect
from test_deleted import open_deleted
from test_reading import HOSTILE

# As titles, names and words of a search: one line each without control characters, no longer than a title may be.
WORDS = [one for one in HOSTILE if not {*map(unicodedata.category, one)} & {"Cc", "Zl", "Zp"} and len(one) <= 90] + [
    '"><img src=x onerror=run()>',
    "'-run()-'",
    "</title><script>run()</script>",
    "</script><script>run()</script>",
    "</textarea><img src=x onerror=run()>",
    "${run()}",
    "{{constructor.constructor('run()')()}}",
    "javascript:run()",
    "\\u003cimg src=x onerror=run()\\u003e",
    "%3Cimg%20src=x%20onerror=run()%3E",
    "<img/src='x'/onerror=run()>",
    "<input autofocus onfocus=run()>",
    "<video><source onerror=run()></video>",
    "<a id=location href=javascript:run()>",
    "#<b>tag</b><img src=x onerror=run()>",
]
PNG = b"\x89PNG\r\n\x1a\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="run()"><script>run()</script></svg>'
HTML = b"<!doctype html><script>run()</script><img src=x onerror=run()>"
FILES = {
    "picture.svg": SVG,
    "picture.png": SVG,
    "page.html": HTML,
    "page.png": HTML,
    "both.png": PNG + HTML,
    "both.gif": b"GIF89a/*" + HTML + b"*/=run();",
    "script.js": b"run()",
    "page.pdf": b"%PDF-1.4\n" + HTML,
    "page.xml": b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>run()</script></html>',
    'x" onerror="run().png': PNG,
    "<img src=x onerror=run()>.txt": HTML,
}


class Watch:
    """A browser without a policy, which says whenever something ran, in whatever window or frame."""

    def __init__(self, context):
        self.ran = []
        self.context = context
        context.add_init_script(
            "window.run = () => console.log('RAN ' + location.href);"
            "window.alert = window.run;"
            "localStorage.setItem('parley.profile', JSON.stringify({name: '<img src=x onerror=run()>', color: '#16737f'}))"
        )
        context.on("console", lambda message: self.ran.append(message.text) if message.text.startswith("RAN ") else None)
        self.page = context.new_page()

    def nothing_ran(self, page=None):
        """Called when what a step shows is there; events of pictures that fail come with later tasks."""
        page = page or self.page
        for frame in page.frames:
            frame.evaluate(
                "() => Promise.all([...document.images].map((one) => one.decode().catch(() => {})))"
                ".then(() => new Promise((done) => setTimeout(done)))"
            )
        assert self.ran == []


@pytest.fixture
def watch(browser, server):
    context = browser.new_context(base_url=server.url, bypass_csp=True, viewport={"width": 1180, "height": 760})
    yield Watch(context)
    context.close()


def upload(server, note, name, data):
    """The address of a file that a note has from now on."""
    address = f"{server.url}/api/notes/{note}/files?name={urllib.request.quote(name, safe='')}"
    request = urllib.request.Request(address, data=data, headers={"content-type": "application/octet-stream"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["path"]


def test_what_runs_is_seen(watch):
    """Otherwise the others would prove nothing."""
    watch.page.goto("/")
    for word in ("<img src=x onerror=run()>", "<details open ontoggle=run()>"):
        watch.page.evaluate("(html) => { const box = document.createElement('p'); document.body.append(box); box.innerHTML = html; }", word)
    wait_until(lambda: watch.page.evaluate("true") and len(watch.ran) == 2)


def test_titles_texts_names_and_searches(server, watch):
    notes = [server.create(word) for word in WORDS]
    hostile = server.create("Hostile")
    server.put_text(hostile, "\n\n".join(HOSTILE + WORDS))
    server.request("POST", f"/api/notes/{hostile}/versions", {"name": WORDS[1], "revision": 1, "author": WORDS[1]})
    page = watch.page
    page.goto("/")
    expect(page.locator("#notes .note-title")).to_have_count(len(WORDS) + 1)
    shown = page.locator("#notes .note-title").all_text_contents()
    assert set(WORDS) <= set(shown)
    watch.nothing_ran()
    # Menus and dialogs that name a note, the title of the tab.
    for note in notes[1], notes[-1]:
        page.goto(f"/n/{note}")
        expect(page.locator("#status")).to_have_attribute("data-state", "saved")
        page.get_by_role("button", name="More for this note").click()
        page.get_by_role("menuitem", name="Delete").click()
        page.get_by_role("button", name="Keep it").click()
        watch.nothing_ran()
    # The palette: titles, texts with their words marked, and what is not found.
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search notes")
    for word in ("img", "onerror=run", *WORDS[:3], "nothing <img src=x onerror=run()>"):
        field.fill(word)
        expect(field).to_have_value(word)
        expect(page.locator(".palette-state, [role=option]").first).to_be_attached()
        watch.nothing_ran()
    page.keyboard.press("Escape")
    # Two people with such names: carets in the text, who is here.
    page.goto(f"/n/{hostile}")
    other = watch.context.new_page()
    other.goto(f"/n/{hostile}")
    for one in (page, other):
        expect(one.locator("#status")).to_have_attribute("data-state", "saved")
        one.locator("#editor .cm-content").click()
        one.keyboard.type("x")
        expect(one.locator("#status")).to_have_attribute("data-unsaved", "0")
        watch.nothing_ran(one)
    # Its history, with a version of such a name; what was deleted.
    page.goto(f"/n/{hostile}#history")
    expect(page.locator("#history-versions .group-author").first).to_have_text(WORDS[1])
    watch.nothing_ran()
    for note in notes[:6]:
        server.request("DELETE", f"/api/notes/{note}?author={urllib.request.quote(WORDS[1])}")
    page.goto("/")
    open_deleted(type("Somebody", (), {"page": page}))
    expect(page.locator("#deleted-list .deleted-row")).to_have_count(6)
    watch.nothing_ran()


def test_a_note_as_html(server, watch):
    """Every text and value of a note with formatting is hostile; the HTML is opened, and set in the page."""
    note = server.create("Hostile")
    path = f"/api/notes/{note}"
    server.request("POST", f"{path}/changes", {"revision": 0, "operation": [0], "format": {"kind": "rich"}})
    picture = upload(server, note, "a.png", PNG)[len("files/") :]
    words = HOSTILE + WORDS + ["JaVaScRiPt:run()", "java\tscript:run()", "\x01javascript:run()", "data:text/html,<script>run()</script>"]
    keys = ("link", "color", "background", "size", "font", "script", "mention", "language", "align", "direction", "alt")
    delta = []
    for word in words:
        value = word[:300]
        values = dict.fromkeys(keys, value)
        delta += [
            {"insert": word, "attributes": {**values, "bold": True, "onclick": value}},
            {"insert": {"image": value}, "attributes": values},
            {"insert": {"image": f"{picture[:64]}/{value}"}, "attributes": values},
            {"insert": {"formula": value}},
            {"insert": "\n", "attributes": {**values, "code-block": value}},
            {"insert": word},
            {"insert": "\n", "attributes": {"block": value}},
        ]
    body = json.dumps(delta).encode()
    kind = {"content-type": "application/vnd.parley.delta+json"}
    request = urllib.request.Request(f"{server.url}{path}/text", data=body, headers=kind, method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer) == {"revision": 2}
    page = watch.page
    page.goto(f"{path}/text?format=html")
    assert "run()" in page.locator("body").inner_text()
    html = page.content()
    click = "() => document.querySelectorAll('a').forEach((one) => { one.target = '_self'; one.addEventListener('click', (event) => { if (one.protocol.startsWith('http')) event.preventDefault(); }); one.click(); })"
    page.evaluate(click)
    watch.nothing_ran()
    known = "html head body p br a strong em u s sub sup span code pre h1 h2 h3 h4 h5 h6 ul ol li label input blockquote hr img"
    assert set(page.evaluate("() => [...document.querySelectorAll('*')].map((one) => one.localName)")) <= set(known.split())
    attributes = page.evaluate("() => [...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
    assert set(attributes) <= {"href", "rel", "src", "alt", "class", "style", "width", "dir", "type", "disabled", "checked", "data-mention"}
    page.goto("/")
    page.evaluate("(html) => { document.body.innerHTML = html; }", html)
    page.evaluate(click)
    watch.nothing_ran()


def test_files_and_pictures(server, watch):
    note = server.create("Files")
    paths = {name: upload(server, note, name, data) for name, data in FILES.items()}
    server.put_text(
        note, "\n\n".join(f"![<img src=x onerror=run()>]({path})\n\n[file]({path})" for path in paths.values())
    )
    page = watch.page
    page.goto(f"/n/{note}")
    page.get_by_role("button", name="Read as a page").click()
    expect(page.locator("#rendered a").first).to_be_visible()
    watch.nothing_ran()
    # Opened by themselves, in frames, as scripts: they are on the page's own origin.
    page.goto("/")
    address = f"/api/notes/{note}/"
    for name, path in paths.items():
        try:
            page.goto(address + path)
            watch.nothing_ran()
        except Error as error:
            assert "Download is starting" in str(error), name
    page.goto("/")
    page.evaluate(
        """(paths) => Promise.race([
             Promise.all(
               [["iframe", "src"], ["object", "data"], ["embed", "src"], ["script", "src"], ["img", "src"]].flatMap(
                 ([tag, attribute]) => paths.map((path) => new Promise((done) => {
                   const one = document.createElement(tag);
                   one.onload = one.onerror = done;
                   one.setAttribute(attribute, path);
                   document.body.append(one);
                 })))),
             // Not every element tells of what is a download.
             new Promise((done) => setTimeout(done, 2_000)),
           ])""",
        [address + path for path in paths.values()],
    )
    # A file that contains a script is not served as one.
    watch.nothing_ran()


def test_imports(server, watch):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        for number, word in enumerate(WORDS[:12]):
            made.writestr(f"{word.replace('/', '|')}.md", f"# {word}\n\n{HOSTILE[number]}\n")
            made.writestr(f"../{number}/{word.replace('/', '|')}.exe", "no text")
        made.writestr("front.md", "---\ntitle: '<img src=x onerror=run()>'\ntags: '<script>run()</script>'\n---\n")
    page = watch.page
    page.goto("/")
    page.get_by_role("button", name="More for all notes").click()
    page.get_by_role("menuitem", name="Import notes…").click()
    dialog = page.get_by_role("dialog", name="Import notes")
    page.locator("#import-files").set_input_files([
        {"name": "<img src=x onerror=run()>.zip", "mimeType": "", "buffer": archive.getvalue()},
        {"name": "<svg onload=run()>.etherpad", "mimeType": "", "buffer": b'{"pad:<img src=x onerror=run()>":1}'},
        {"name": "'\"><img src=x onerror=run()>.md", "mimeType": "", "buffer": b"\xff\xff"},
    ])  # fmt: skip
    expect(dialog.locator("#import-state")).to_have_text("13 notes were imported. 14 files were not.")
    watch.nothing_ran()
    assert len(server.request("GET", "/api/notes")["notes"]) == 13


def test_changes_on_the_historys_page(server, watch):
    note = server.create("Hostile past")
    server.put_text(note, "\n\n".join(HOSTILE))
    # Each of them is deleted, comes, stays, or gets a word more.
    newer = [one if number % 3 else one + " more" for number, one in enumerate(HOSTILE) if number % 5]
    server.put_text(note, "\n\n".join([*newer, *HOSTILE[:20]]))
    page = watch.page
    page.goto(f"/n/{note}#history")
    expect(page.locator("#history")).to_have_attribute("data-shown", "2")
    page.locator("#history-read").click()
    page.locator("#history-compare").click()
    page.get_by_label("Since").select_option("0")
    expect(page.locator("#history")).to_have_attribute("data-shown", "0-2")
    page.locator("#history-slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#history")).to_have_attribute("data-shown", "0-1")
    page.locator("#history-pick").click()
    page.locator("#history-slider").press("End")
    expect(page.locator("#history")).to_have_attribute("data-shown", "1-2")
    shown = page.locator("#history-page")
    expect(shown.locator("ins").first).to_be_attached()
    expect(shown.locator("del").first).to_be_attached()
    tags = set(page.evaluate("() => [...document.querySelectorAll('#history-page *')].map((one) => one.localName)"))
    assert not tags & {"script", "iframe", "object", "embed", "style", "form", "video", "details", "base", "link", "meta"}, tags
    names = page.evaluate("() => [...document.querySelectorAll('#history-page *')].flatMap((one) => one.getAttributeNames())")
    assert not [one for one in names if one.startswith("on") or one in ("src", "srcdoc", "style", "contenteditable")]
    schemes = page.evaluate("() => [...document.querySelectorAll('#history-page a[href]')].map((one) => one.protocol)")
    assert set(schemes) <= {"https:", "http:", "mailto:"}, schemes
    for link in shown.locator("a").all():
        link.dispatch_event("mouseover")
    watch.nothing_ran()
