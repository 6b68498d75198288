"""Whatever strangers write into a formatted note, nothing runs: in a browser that takes no notice of the page's policy.

The long form takes the whole corpus through each path, and `make test` some of it.
"""

import base64
import json
import re
import urllib.error
import urllib.request

import pytest
from conftest import Server
from playwright.sync_api import Error, expect
from rich_client import RichClient
from test_hostile import PNG, WORDS, Watch, upload
from test_reading import HOSTILE

RUN = "<script>run()</script>"
ADDRESSES = [
    "javascript:run()", "JaVaScRiPt:run()", "JAVASCRIPT:run()", "java\tscript:run()", "java\nscript:run()", "java\r\nscript:run()",
    " javascript:run()", "\x01javascript:run()", "\x1f\x00 javascript:run()", "javascript:\nrun()", "javascript\t:run()",
    "javascript://a.example/%0arun()", "javascript:'</script><script>run()</script>'", "&#106;avascript:run()",
    "javascript&colon;run()", "javascript&#58;run()", "%6aavascript:run()", "\\javascript:run()", "\\x6aavascript:run()",
    "//javascript:run()", "/javascript:run()", "https:javascript:run()", "vbscript:run()", "livescript:run()",
    "data:text/html,<script>opener.run()</script>", "DATA:text/html;base64," + base64.b64encode(RUN.encode()).decode(),
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='run()'/>", "data:,run()", "blob:run()",
    "view-source:javascript:run()", "feed:javascript:run()", "jar:javascript:run()!/", "about:blank", "intent:run()",
    "files/../javascript:run()", "javascript\u2028:run()", "java\u00adscript:run()", "java\u200bscript:run()", "ｊavascript:run()",
    '" onmouseover=run() x="', "' onfocus=run() autofocus '", "https://a.example/\" onclick=\"run()", "mailto:a@b?x=\"><svg onload=run()>",
    "#\"><img src=x onerror=run()>", "/n/<img src=x onerror=run()>", "javascript:alert()",
]  # fmt: skip
COLOURS = [
    "red;background:url(javascript:run())", "expression(run())", "url(javascript:run())", "#00000", "#000000;x:expression(run())",
    "#000000}</style><script>run()</script>", "#0000ff\n", "var(--x)", "rgb(0,0,0)\" onclick=\"run()", "image-set('javascript:run()')",
]  # fmt: skip
# Names of what every object of JavaScript has.
NAMES = ["constructor", "__proto__", "prototype", "toString", "valueOf", "hasOwnProperty", "innerHTML", "srcdoc", "onclick"]
VALUES = [*ADDRESSES, *COLOURS, *NAMES, *HOSTILE, *WORDS]
KEYS = ["link", "color", "background", "size", "font", "script", "mention", "bold", "constructor", "prototype", "onclick"]
OF_LINES = ["block", "align", "direction", "language", "constructor"]
EMBEDS = ["image", "file", "rule", "formula", "video", "iframe", "script", "html", "constructor", "prototype", "srcdoc"]
# In the page: clicks all links and boxes, and moves over everything; addresses of the Web, and invalid ones, are
# not followed.
TOUCH = """() => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
    const host = document.querySelector("#editor") ?? document;
    for (const one of [...all(host), ...document.querySelectorAll("#rendered *, #printed *, #history-page *")]) {
        for (const name of ["mouseover", "mouseenter", "focus", "pointerdown", "animationstart", "toggle"]) one.dispatchEvent(new Event(name, { bubbles: true }));
        if (!(one instanceof HTMLAnchorElement)) continue;
        one.target = "_self";
        one.addEventListener("click", (event) => {
            if (/^(https?|mailto|tel|blob)?:$/.test(one.protocol)) { event.preventDefault(); event.stopImmediatePropagation(); }
        }, true);
        one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: true }));
        one.click();
    }
}"""
# In the page: the names of elements and attributes, and the schemes of links.
FOUND = """(where) => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
    const found = [...document.querySelectorAll(where)].flatMap((one) => all(one.shadowRoot ?? one));
    return {
        tags: [...new Set(found.map((one) => one.localName))],
        names: [...new Set(found.flatMap((one) => one.getAttributeNames()))],
        schemes: [...new Set(found.filter((one) => one.localName === "a" && one.href).map((one) => one.protocol))],
        count: found.length,
    };
}"""
BAD_TAGS = {"script", "iframe", "object", "embed", "form", "video", "details", "base", "meta", "svg", "math", "animate"}
SCHEMES = {"https:", "http:", "mailto:", "tel:"}


def nothing_bad(page, where):
    """Checks the elements of a part of a page."""
    found = page.evaluate(FOUND, where)
    assert found["count"] > 3, where
    assert not BAD_TAGS & {*found["tags"]}, found
    assert not [name for name in found["names"] if name.startswith("on") or name in ("srcdoc", "formaction", "ping")], found
    # The scheme of an invalid address is ":".
    assert {*found["schemes"]} <= {*SCHEMES, ":"}, found


def valid(value):
    """Returns a value that is short enough for an attribute."""
    return value[:300]


def hostile_delta(values, picture):
    """Returns a text in which each value is at each place that an attribute has."""
    ops = []
    for number, word in enumerate(values):
        value = valid(word)
        attributes = dict.fromkeys(KEYS, value)
        kind = EMBEDS[number % len(EMBEDS)]
        ops += [
            {"insert": f"w{number} {word}".replace("\n", " "), "attributes": attributes},
            {"insert": f" {number}", "attributes": {"link": value}},
            {"insert": {"image": value}, "attributes": {"alt": value, "width": value, "link": value}},
            {"insert": {"image": f"{picture}/{value}"}, "attributes": {"alt": value, "link": value}},
            {"insert": {"file": f"{picture}/{value}"}},
            {"insert": {"formula": value}},
            {"insert": {kind: value}, "attributes": {"alt": value}},
            {"insert": "\n", "attributes": dict.fromkeys(OF_LINES, value)},
            {"insert": word.replace("\n", " ")},
            {"insert": "\n", "attributes": {"code-block": value, "align": value}},
        ]
    return ops


def put_delta(server, note, ops):
    body = json.dumps(ops).encode()
    kind = {"content-type": "application/vnd.parley.delta+json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}/api/notes/{note}/text", body, kind, method="PUT")) as answer:
            return json.load(answer)["revision"]
    except urllib.error.HTTPError as refusal:
        raise AssertionError(refusal.read().decode()) from refusal


def rich(server):
    return server.request("POST", "/api/notes", {"title": "<img src=x onerror=run()>", "kind": "rich"})["id"]


@pytest.fixture
def server(tmp_path, site):
    running = Server(tmp_path, "--allowed-origin", site.url)
    yield running
    running.stop()


@pytest.fixture
def watch(browser, server):
    context = browser.new_context(base_url=server.url, bypass_csp=True, viewport={"width": 1180, "height": 760}, accept_downloads=True)
    watching = Watch(context)
    watching.problems = []
    watching.page.on("pageerror", lambda error: watching.problems.append(str(error)))
    watching.page.on("dialog", lambda dialog: watching.ran.append(dialog.message))
    yield watching
    context.close()
    # A document in a sandbox refuses storage to the script that `Watch` adds.
    assert [one for one in watching.problems if "localStorage" not in one] == []


def some(values, step):
    return values[::step]


def opened(watch, note, fragment=""):
    page = watch.page
    page.goto(f"/n/{note}{fragment}")
    expect(page.locator("#status")).to_have_attribute("data-state", "saved")
    page.locator("#editor .content").wait_for(state="attached")
    return page


def read(page):
    """Shows a note as a page; the choice stays from note to note."""
    button = page.get_by_role("button", name="Read as a page")
    if button.get_attribute("aria-pressed") != "true":
        button.click()


def all_views(server, watch, note):
    """Opens a note in the editor, as a page, for printing, in the history and by a link."""
    page = opened(watch, note)
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#editor")
    read(page)
    expect(page.locator("#rendered p, #rendered pre").first).to_be_visible()
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#rendered")
    page.evaluate("() => { window.print = () => { document.body.dataset.printed = 'yes'; }; }")
    page.keyboard.press("Control+p")
    expect(page.locator("body")).to_have_attribute("data-printed", "yes")
    page.emulate_media(media="print")
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#printed")
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.goto(f"/n/{note}#history")
    expect(page.locator("#history-page p, #history-page pre").first).to_be_attached()
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#history-page")
    page.locator("#history-compare").click()
    expect(page.locator("#history")).to_have_attribute("data-shown", re.compile("-"))
    watch.nothing_ran()


def test_attributes_of_strangers_in_all_views(server, watch):
    attributes_in_all_views(server, watch, some(VALUES, 9))


@pytest.mark.long
def test_all_attributes_of_strangers_in_all_views(server, watch):
    for start in range(0, len(VALUES), 40):
        attributes_in_all_views(server, watch, VALUES[start : start + 40])


def attributes_in_all_views(server, watch, values):
    note = rich(server)
    picture = upload(server, note, "a.png", PNG)[len("files/") :][:64]
    put_delta(server, note, [{"insert": "before\n"}])
    put_delta(server, note, [*hostile_delta(values, picture), {"insert": "after\n"}])
    all_views(server, watch, note)
    exports_are_harmless(server, watch, note)
    by_link(server, watch, note)


def exports_are_harmless(server, watch, note):
    """Opens each form that the server and the page write."""
    page = watch.page
    for form in ("html", "markdown", "delta", "text", "json"):
        try:
            page.goto(f"{server.url}/api/notes/{note}/text?format={form}")
        except Error as error:
            assert "Download is starting" in str(error), form
            continue
        page.evaluate(TOUCH)
        watch.nothing_ran()
    opened(watch, note)
    for kind in ("Markdown", "HTML"):
        page.get_by_role("button", name="More for this note").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=f"Download {kind}").click()
        written = download.value.path().read_text("utf-8")
        if kind == "HTML":
            written = re.sub(r"<meta http-equiv=[^>]*>", "", written)
            assert "Content-Security-Policy" not in written
            # On the page's own origin, without the page.
            page.goto(f"{server.url}/api/notes/{note}/text?format=text")
            page.set_content(written)
            page.evaluate(TOUCH)
            watch.nothing_ran()
            page.evaluate("(html) => { document.body.innerHTML = html; }", written)
            page.evaluate(TOUCH)
            watch.nothing_ran()
        else:
            # As a Markdown note, read as a page.
            other = server.create("Written as Markdown")
            server.put_text(other, written)
            page.goto(f"/n/{other}")
            expect(page.locator("#status")).to_have_attribute("data-state", "saved")
            read(page)
            expect(page.locator("#rendered .block").first).to_be_attached()
            page.evaluate(TOUCH)
            watch.nothing_ran()
            opened(watch, note)


def by_link(server, watch, note):
    """Opens a note by a link for reading."""
    path = server.request("POST", f"/api/notes/{note}/share", {"access": "read", "expiresIn": 600})["path"]
    # A guest's browser may open this note alone.
    watch = Watch(watch.context.browser.new_context(base_url=server.url, bypass_csp=True))
    page = watch.page
    page.goto(path)
    shown = page.locator("#editor .content, #rendered p, #rendered pre")
    shown.first.wait_for(state="attached")
    expect(page.locator("#status")).to_have_attribute("data-state", re.compile("saved|read"))
    watch.nothing_ran()
    page.evaluate(TOUCH)
    watch.nothing_ran()
    watch.context.close()


def live_changes(server, watch, values):
    """A stranger with a program of his own changes the note that is open."""
    note = rich(server)
    put_delta(server, note, [{"insert": "here\n"}])
    page = opened(watch, note)
    stranger = RichClient(server.url.replace("http", "ws"), note, "<img src=x onerror=run()>").connect()
    for number, word in enumerate(values):
        value = valid(word)
        sets = [dict.fromkeys(KEYS, value), dict.fromkeys(OF_LINES, value)]
        embed = {"embed": {EMBEDS[number % len(EMBEDS)]: value}, "alt": value, "width": value, "link": value}
        keep = [("keep", sets[number % 2])] + [("keep", {})] * (len(stranger.text) - 1)
        stranger.edit([("insert", "x", sets[0]), ("insert", "\ufffc", embed), ("insert", "\n", sets[1]), *keep])
        stranger.settle()
    expect(page.locator("#editor .content > *")).to_have_count(len(values) + 2)
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#editor")
    # Going over the text, and the bars that show a selection's attributes.
    page.locator("#editor .content").focus()
    for key in ("Control+Home", "Shift+ArrowRight", "ArrowRight", "Shift+ArrowRight", "Control+a", "Control+Home", "Control+b", "x"):
        page.keyboard.press(key)
        watch.nothing_ran()
    stranger.close()


def test_changes_of_a_stranger_arrive_in_an_open_note(server, watch):
    live_changes(server, watch, some(VALUES, 5))


@pytest.mark.long
def test_all_changes_of_a_stranger_arrive_in_an_open_note(server, watch):
    live_changes(server, watch, VALUES)


@pytest.mark.parametrize(
    "bad",
    [
        {"__proto__": "x"}, {"onClick": "run()"}, {"Link": "x"}, {"link": {"href": "x"}}, {"a b": 1}, {"link": ["x"]},
        {"embed": {"image": {"src": "x"}}}, {"embed": {"__proto__": "x"}}, {"embed": {"<img src=x onerror=run()>": "x"}},
    ],
)  # fmt: skip
def test_attributes_that_are_none_are_refused(server, bad):
    note = rich(server)
    change = {"revision": 0, "operation": ["\ufffc" if "embed" in bad else "x"], "format": {"sets": [bad], "put": [1, 1]}}
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.request("POST", f"/api/notes/{note}/changes", change)
    assert (refused.value.code, json.load(refused.value)["code"]) == (400, "badOperation")


def pasted(values):
    """Returns the HTML of pastes: what is hostile by itself, and addresses in all places that have one."""
    for value in values:
        quoted = value.replace("&", "&amp;").replace('"', "&quot;")
        yield value
        yield f'<p>a <a href="{quoted}">b</a> <img src="{quoted}" alt="{quoted}"> <b style="color:{quoted};background:{quoted}">c</b></p>'
        yield f"<ul><li>{value}</li></ul><table><tr><td>{value}</td></tr></table><pre><code class=\"language-{quoted}\">{value}</code></pre>"


def pastes(server, watch, values):
    note = rich(server)
    page = opened(watch, note)
    content = page.locator("#editor .content")
    content.focus()
    for number, html in enumerate(pasted(values)):
        content.evaluate(
            """(element, html) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/html", html);
                clipboardData.setData("text/plain", "plain");
                element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }""",
            f"<p>paste {number}.</p>{html}",
        )
        expect(content).to_contain_text(f"paste {number}.")
        # Into a paragraph: code takes the text alone.
        page.keyboard.press("Control+Home")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("#status")).to_have_attribute("data-unsaved", "0")
    page.evaluate(TOUCH)
    watch.nothing_ran()
    nothing_bad(page, "#editor")
    links = [op["attributes"]["link"] for op in delta_of(server, note) if "link" in op.get("attributes", {})]
    assert not [one for one in links if re.match(r"[\x00-\x20]*(javascript|vbscript|data):", re.sub(r"[\t\r\n]", "", one), re.I)], links
    all_views(server, watch, note)


def delta_of(server, note):
    with urllib.request.urlopen(f"{server.url}/api/notes/{note}/text?format=delta") as answer:
        found = json.load(answer)
    return found if isinstance(found, list) else found["ops"]


def test_pasted_html(server, watch):
    pastes(server, watch, some([*ADDRESSES, *HOSTILE, *WORDS], 14))


@pytest.mark.long
def test_all_pasted_html(server, watch):
    pastes(server, watch, [*ADDRESSES, *COLOURS, *HOSTILE, *WORDS])


def markdown(values):
    """Returns a Markdown text with each value as it is, and as an address."""
    parts = []
    for value in values:
        # A file with NUL is no text.
        line = value.replace("\n", " ").replace("\0", "")
        parts += [value.replace("\0", ""), f"[a]({line}) [b](<{line}>) ![c]({line}) **{line}** `{line}`", f"- [ ] {line}", f"# {line}", f"> {line}"]
    return "\n\n".join(parts)


def imports(server, watch, values):
    """Imports a file of Markdown, and makes the note a formatted one."""
    page = watch.page
    page.goto("/")
    page.get_by_role("button", name="More for all notes").click()
    page.get_by_role("menuitem", name="Import notes…").click()
    dialog = page.get_by_role("dialog", name="Import notes")
    page.locator("#import-files").set_input_files([
        {"name": "'\"><svg onload=run()>.md", "mimeType": "", "buffer": markdown(values).encode()},
    ])  # fmt: skip
    expect(dialog.locator("#import-state")).to_contain_text("imported")
    watch.nothing_ran()
    notes = server.request("GET", "/api/notes")["notes"]
    assert len(notes) == 1
    for note in notes:
        page.goto(f"/n/{note['id']}")
        expect(page.locator("#status")).to_have_attribute("data-state", "saved")
        page.locator("#editor .cm-content").wait_for(state="attached")
        page.locator("#note-menu").click()
        page.get_by_role("menuitem", name="Turn into a formatted note").click()
        page.get_by_role("button", name="Turn into a formatted note").click()
        page.locator("#editor .content").wait_for(state="attached")
        expect(page.locator("#status")).to_have_attribute("data-unsaved", "0")
        watch.nothing_ran()
        all_views(server, watch, note["id"])


def test_imported_files_become_formatted_notes(server, watch):
    imports(server, watch, some([*ADDRESSES, *HOSTILE, *WORDS], 6))


@pytest.mark.long
def test_all_imported_files_become_formatted_notes(server, watch):
    imports(server, watch, [*ADDRESSES, *COLOURS, *HOSTILE, *WORDS])


# An app whose editors draw what they are given: they check no address.
EDITORS = """<!doctype html><meta charset="utf-8"><title>An app</title><div id="quill"></div><div id="prose"></div>
<script type="module">
  import {{ connect }} from "{gateway}/sdk/1/parley.js";
  import {{ proseMirror, quill }} from "{gateway}/sdk/1/rich.js";
  import {{ Schema }} from "/prosemirror/model.js";
  import {{ EditorState, Plugin }} from "/prosemirror/state.js";
  import {{ EditorView }} from "/prosemirror/view.js";
  const parley = await connect("{gateway}", {{ name: "App" }});
  const note = window.note = parley.note("{note}", {{ formats: true }});
  const own = (tag, attrs) => [tag, Object.fromEntries(Object.entries(attrs).filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => [key, String(value)]))];
  const schema = new Schema({{
    nodes: {{
      doc: {{ content: "line+" }},
      line: {{ content: "inline*", attrs: {{ block: {{ default: null }} }}, toDOM: () => ["p", 0] }},
      text: {{ group: "inline" }},
      image: {{ group: "inline", inline: true, attrs: {{ src: {{}}, alt: {{ default: null }} }}, toDOM: ({{ attrs }}) => own("img", attrs) }},
      iframe: {{ group: "inline", inline: true, attrs: {{ src: {{}} }}, toDOM: ({{ attrs }}) => own("iframe", attrs) }},
    }},
    marks: {{ strong: {{ toDOM: () => ["b", 0] }}, link: {{ attrs: {{ href: {{}} }}, toDOM: ({{ attrs }}) => ["a", {{ href: attrs.href }}, 0] }} }},
  }});
  const view = new EditorView(document.querySelector("#prose"), {{ state: EditorState.create({{ schema, plugins: [proseMirror(note, {{ Plugin }}, schema)] }}) }});
  const drawn = document.querySelector("#quill");
  const editor = {{
    pieces: [],
    on() {{}}, off() {{}}, enable() {{}},
    getLength() {{ return this.pieces.reduce((sum, {{ insert }}) => sum + (insert.length ?? 1), 0); }},
    setContents({{ ops }}) {{ this.pieces = ops; this.draw(); }},
    updateContents({{ ops }}) {{
      const units = this.pieces.flatMap((op) => typeof op.insert === "string" ? op.insert.split("").map((insert) => ({{ ...op, insert }})) : [op]);
      const result = [];
      for (const op of ops) {{
        if (op.insert !== undefined) result.push(op);
        else if (op.delete) units.splice(0, op.delete);
        else result.push(...units.splice(0, op.retain).map((unit) => ({{ ...unit, attributes: {{ ...unit.attributes, ...op.attributes }} }})));
      }}
      this.pieces = [...result, ...units];
      this.draw();
    }},
    draw() {{
      drawn.replaceChildren(...this.pieces.map(({{ insert, attributes }}) => {{
        const link = document.createElement("a");
        if (attributes?.link) link.href = attributes.link;
        const [[kind, value] = []] = typeof insert === "object" ? Object.entries(insert) : [];
        if (kind === "image" || kind === "video") {{
          const one = document.createElement(kind === "video" ? "iframe" : "img");
          one.src = value;
          link.append(one);
        }} else link.append(kind === undefined ? insert : "box");
        return link;
      }}));
    }},
  }};
  quill(note, editor);
  await note.ready;
  window.read = () => [drawn.textContent, view.state.doc.textContent];
  document.title = "ready";
</script>"""


def bindings(server, site, watch, values):
    note = rich(server)
    ops = []
    for number, value in enumerate(map(valid, values)):
        ops += [{"insert": f"w{number}", "attributes": {"link": value, "bold": True}}]
        ops += [{"insert": {kind: value}, "attributes": {"alt": value, "link": value}} for kind in ("image", "iframe", "video", "constructor")]
        ops += [{"insert": "\n", "attributes": {"block": value}}]
    put_delta(server, note, ops)
    page = watch.page
    page.goto(site.add("editors.html", EDITORS, gateway=server.url, note=note))
    page.wait_for_function("() => document.title === 'ready' && read().every((text) => text.includes('w0'))")
    # Once more as a change of a note that is open.
    put_delta(server, note, [*ops, {"insert": "last", "attributes": {"link": values[0]}}, {"insert": {"iframe": values[0]}}, *reversed(ops), {"insert": "\n"}])
    page.wait_for_function("() => read().every((text) => text.includes('last'))")
    page.evaluate(TOUCH)
    page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert watch.ran == []
    schemes = page.evaluate("() => [...document.querySelectorAll('a[href]')].map((one) => one.protocol)")
    # The scheme of an invalid address is ":".
    assert {*schemes} <= {*SCHEMES, ":"}, schemes
    frames = page.evaluate("() => [...document.querySelectorAll('iframe, img')].map((one) => URL.parse(one.src)?.protocol ?? ':')")
    assert {*frames} <= {*SCHEMES, ":", "data:"}, frames
    assert page.locator("iframe[src^=data]").count() == 0
    # What is not shown stays in the note.
    assert [op["attributes"]["link"] for op in delta_of(server, note) if "link" in op.get("attributes", {})][0] == valid(values[0])


def test_editors_of_apps_get_no_scripts(server, site, watch):
    bindings(server, site, watch, some(ADDRESSES, 2))


@pytest.mark.long
def test_editors_of_apps_get_no_scripts_of_the_whole_corpus(server, site, watch):
    bindings(server, site, watch, [*ADDRESSES, *COLOURS, *HOSTILE, *WORDS])
