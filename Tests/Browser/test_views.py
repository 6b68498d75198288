"""The layout of every view of the page: widths, overflow, skeletons, sizes and reachability of controls, and printing.

`VIEWS` has a row for each view. A view is opened once in each language, and measured at five widths for mouse and
touch, in light and dark; then in forced colours, at 200 %, and on paper. In English, axe checks it as a whole,
and its contrast in the other scheme. All views that documents, modules and style sheets declare must be shown
by a row.
"""

import re
import subprocess

import pytest
from conftest import PROGRAM, ROOT, SECRET, Server, barriers, token, wait_until
from playwright.sync_api import expect
from test_joining import PASSWORD, invite
from test_offline import wait_until_kept
from touching import SMALL

WIDTHS = [360, 768, 1180, 1440, 1920]

WORDS = "The quick brown fox jumps over the lazy dog and runs along the river until the evening comes. "
WIDE = "\n".join("| " + " | ".join(cell for _ in range(14)) + " |" for cell in ("Department", "---", "extraordinary"))
TEXT = "\n\n".join([
    "# First heading", WORDS * 6, "## Second heading", WORDS * 3, WIDE, "- [ ] milk\n- [x] bread", "## Third heading",
    WORDS * 3 + "See [the river](https://example.org/), and a footnote.[^1]",
    "```python\n" + "value = compute(" + "argument, " * 40 + ")\n```", "https://example.org/" + "a" * 300,
    "[^1]: It is long.",
])  # fmt: skip


@pytest.fixture
def users(tmp_path):
    """A server with a user, an operator's key, notes, comments and links."""
    file, keys, secret = tmp_path / "users", tmp_path / "api-keys", tmp_path / "secret"
    secret.write_bytes(SECRET)
    add = [PROGRAM, "user", "add", "ada", "document:*=all", "room:notes=read", "--file", file]
    subprocess.run(add, input=PASSWORD + "\n", text=True, check=True, capture_output=True)
    made = subprocess.run(
        [PROGRAM, "apikey", "admin", "operator", "document:*=read", "--file", keys],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    running = Server(
        tmp_path, "--users-file", file, "--api-key-file", keys, "--hmac-secret-file", secret, "--audience", "parley",
        "--public-names", "on", "--smtp-url", "smtp://127.0.0.1:9", "--mail-from", "parley@example.org",
        "--public-url", "http://127.0.0.1:9",
    )  # fmt: skip
    running.settings = ["--users-file", file, "--data-dir", tmp_path / "data"]
    running.operator = re.search(r"pk_\S+", made.stdout).group()
    running.token = token()
    fill(running)
    yield running
    running.stop()


def fill(server):
    """Creates the content of the views."""
    for number in range(8):
        server.create(f"Walk {number} along the river, and what we shall need for it")
    server.unread = server.create("Never opened")
    made = server.request("POST", "/api/notes", {"title": "A walk along the river", "folder": "Walks/By the river"})
    server.note = made["id"]
    server.insert_text(server.note, TEXT + "\n\n#river")
    server.rich = server.request("POST", "/api/notes", {"title": "A formatted walk", "kind": "rich"})["id"]
    sets = [{"block": "h1"}, {"block": "bullet"}, {"block": "done"}, {"link": "https://example.org/"}, {"block": "code"}]
    put = [len("First heading"), 0, 1, 1, len(WORDS * 6) + 1, 0, 3, 4, 1, 2, 5, 0, 1, 3, 3, 0, 1, 5]
    change = {"revision": 0, "operation": [f"First heading\n{WORDS * 6}\none\nmilk \na=1\n"], "format": {"sets": sets, "put": put}}
    server.request("POST", f"/api/notes/{server.rich}/changes", change)
    revision = server.request("GET", f"/api/notes/{server.note}/comments")["revision"]
    anchor = {"revision": revision, "from": 20, "to": 40}
    server.token = token(sub="bea", name="Bea, who has a rather long name")
    mention = {"text": WORDS, "anchor": anchor, "mentions": ["ada"]}
    server.request("POST", f"/api/notes/{server.note}/comments", mention)
    server.token = token()
    server.name = server.request("PUT", f"/api/notes/{server.note}/name", {"name": "walk-along-the-river-2026"})["path"]
    server.link = server.request("POST", f"/api/notes/{server.note}/share", {"access": "read"})["path"]
    server.invitation = "/" + re.search("#invite=.*", invite(server)).group()


NOTHING_OPEN = """() => ![...document.querySelectorAll("dialog[open], #menu, #people-panel")]
    .some((one) => one.checkVisibility())"""


class Seen:
    """The browsers of a user, a guest and an operator, in one language."""

    def __init__(self, server, person, language):
        self.server = server
        self.ada = person("Ada", locale=language, worker=True)
        self.guest = person("Guest", locale=language, worker=False)
        self.page = self.ada.page
        self.page.goto(f"/n/{server.note}")
        self.page.locator("#sign-in-email").fill("ada")
        self.page.locator("#sign-in-password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        self.ada.wait_for_editor()
        wait_until_kept(self.ada)

    def at(self, path, shown, page=None):
        """Opens an address, unless it is open, and waits for an element."""
        page = page or self.page
        if page.url != self.server.url + path:
            page.goto(path)
        expect(page.locator(shown).first).to_be_visible()
        return page

    def close(self):
        """Closes everything that is open above or beside the note, and its page view."""
        if self.page.url.endswith("#history"):
            self.page.keyboard.press("Escape")
            self.click("#history-close", "#note")
        wait_until(lambda: self.page.keyboard.press("Escape") or self.page.evaluate(NOTHING_OPEN))
        for name in ("#read[aria-pressed=true]", "#comments[aria-expanded=true]"):
            if self.page.locator(name).is_visible():
                self.page.locator(name).click()

    def note(self):
        self.close()
        page = self.at(f"/n/{self.server.note}", "#editor .cm-line")
        self.ada.wait_for_status("saved")
        return page

    def formatted(self):
        self.close()
        page = self.at(f"/n/{self.server.rich}", "#editor .line")
        self.ada.wait_for_status("saved")
        return page

    def menu(self, icon, shown, opened="#note-menu"):
        """Chooses the item with an icon in a menu."""
        self.note().locator(opened).click()
        self.page.locator(f"#menu button:has(use:is([href$='#{icon}'], [href$='#icon-{icon}']))").first.click()
        expect(self.page.locator(shown).first).to_be_visible()
        return self.page

    def press(self, key, shown):
        self.note().keyboard.press(key)
        expect(self.page.locator(shown).first).to_be_visible()
        return self.page

    def click(self, *names):
        """Clicks the elements in order, and waits until the last one is visible."""
        for name in names[:-1]:
            self.page.locator(name).first.click()
        expect(self.page.locator(names[-1]).first).to_be_visible()
        return self.page

    def find(self):
        self.note()
        self.ada.editor.focus()
        self.page.keyboard.press("Control+f")
        expect(self.page.locator("#editor .cm-search")).to_be_visible()
        return self.page

    def without_server(self, row, shown):
        if self.server.process.poll() is None:
            self.note()
            self.server.kill()
        self.ada.wait_for_status("offline")
        return self.click(row, shown)

    def guest_at(self, path, shown):
        return self.at(path, shown, self.guest.page)

    def forgotten(self, shown):
        """Opens the dialog that asks for the account of a forgotten password, unless it is open."""
        page = self.guest_at("/", "dialog[open]")
        if page.locator("#sign-in-forgot").is_visible():
            page.locator("#sign-in-forgot").click()
        expect(page.locator(shown).first).to_be_visible()
        return page

    def admin(self, *clicks):
        page = self.guest_at("/admin", "#entry:not([hidden]), #main:not([hidden])")
        if page.locator("#key").is_visible() and clicks:
            page.locator("#key").fill(self.server.operator)
            page.locator("#enter").click()
        for name in clicks:
            page.locator(name).first.click()
        return page


COLUMN = "#editor .cm-line"
PAGE = "#rendered p"
# For each name of a view: a function that opens it, and the selector of its column of prose, if it has one. The order
# matters.
VIEWS = {
    "home": (lambda see: see.at("/", "#notes .note-row"), None),
    "list's menu": (lambda see: see.click("#list-menu", "#menu"), None),
    "gone": (lambda see: see.at("/n/there-is-no-such-note", "#gone-title"), None),
    "note": (lambda see: see.note(), COLUMN),
    "note's menu": (lambda see: see.click("#note-menu", "#menu"), None),
    "people": (lambda see: see.click("#people", "#people-panel"), COLUMN),
    "profile": (lambda see: see.click("#me", "#profile"), None),
    "password": (lambda see: see.click("#change-password", "dialog[open] [autocomplete=new-password]"), None),
    "devices": (lambda see: see.note() and see.click("#me", "#show-devices", "#devices-list li"), None),
    "notices": (lambda see: see.note() and see.click("#bell", "#inbox-list li"), None),
    "search": (lambda see: see.press("Control+k", "dialog.palette"), None),
    "finding": (lambda see: see.find(), COLUMN),
    "keys": (lambda see: see.press("F1", "dialog.help"), None),
    "sharing": (lambda see: see.note() and see.click("#share", ".publishing") and see.click("#sharing-list li"), None),
    "deleting": (lambda see: see.menu("trash", "#confirm"), None),
    "moving": (lambda see: see.menu("folder", "#move"), None),
    "deleted notes": (lambda see: see.menu("trash", "#deleted", "#list-menu"), None),
    "importing": (lambda see: see.menu("plus", "#import", "#list-menu"), None),
    "page": (lambda see: see.note() and see.click("#read", PAGE), PAGE),
    "beside": (lambda see: see.menu("eye", PAGE), PAGE),
    "formatted note": (lambda see: see.formatted(), "#editor .line"),
    "formatted note as a page": (lambda see: see.formatted() and see.click("#read", PAGE), PAGE),
    "authors": (lambda see: see.menu("changes", "#editor .written"), COLUMN),
    "comments": (lambda see: see.note() and see.click("#comments", "#comments-list li"), COLUMN),
    "history": (lambda see: see.at(f"/n/{see.server.note}#history", "#history-text .cm-line"), "#history-text .cm-line"),
    "history as a page": (lambda see: see.click("#history-read", "#history-compare", "#history-page p"), "#history-page p"),
    "history as a text": (lambda see: see.click("#history-read", "#history-compare", "#history-text .cm-line"), None),
    "naming": (lambda see: see.click("#history-name", "#version"), None),
    "sign-in": (lambda see: see.guest_at("/", "#sign-in"), None),
    "forgotten password": (lambda see: see.forgotten("[autocomplete=username]:visible"), None),
    "new password": (lambda see: see.guest_at("/#reset=pr_AAAA", "[name=newPassword]"), None),
    "invitation": (lambda see: see.guest_at(see.server.invitation, "[autocomplete=new-password]"), None),
    "link for reading": (lambda see: see.guest_at(see.server.link, PAGE), PAGE),
    "published note": (lambda see: see.guest_at(see.server.name, PAGE), PAGE),
    "nothing published": (lambda see: see.guest_at("/p/nothing-is-here", "#gone-title"), None),
    "operator's sign-in": (lambda see: see.admin(), None),
    "operator's notes": (lambda see: see.admin("#tab-notes"), None),
    "operator's audit log": (lambda see: see.admin("#tab-audit"), None),
    "operator's rooms": (lambda see: see.admin("#tab-rooms"), None),
    "operator's nodes": (lambda see: see.admin("#tab-nodes"), None),
    "operator's connections": (lambda see: see.admin("#tab-connections"), None),
    "disconnecting": (lambda see: see.admin("#connections tbody button"), None),
    "offline": (lambda see: see.without_server(f"[data-note='{see.server.unread}'] a", "[data-kind=absent]"), None),
    "begun offline": (lambda see: see.without_server("#create", "#early"), None),
}

# In the page: the problems of the shown view, as sentences. `prose` selects paragraphs, if given.
MEASURE = """async ({ prose, isTouch }) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    const wrong = [];
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])];
    const nameOf = (one) => one.localName + (one.id ? `#${one.id}` : "") + (one.className?.trim?.() ? `.${one.className}` : "");
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    const all = roots.flatMap((root) => [...root.querySelectorAll("*")]).filter(isSeen);
    const style = new Map(all.map((one) => [one, getComputedStyle(one)]));

    // Nothing is wider than its pane, except in a scroller of its own.
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
    const mayScroll = ".rendered :is(.table, pre), .printed *, input, textarea, select, .tools, .admin-list, .track, .visually-hidden";
    for (const one of all) {
        if (one.scrollWidth <= one.clientWidth + 1 || one.clientWidth === 0) continue;
        const scrolls = ["auto", "scroll"].includes(style.get(one).overflowX);
        const isCut = style.get(one).overflowX === "visible" && one.matches("button, .button, .badge, th, h1, h2, h3");
        if ((scrolls && !one.matches(mayScroll)) || isCut) wrong.push(`${nameOf(one)} is ${one.scrollWidth} in ${one.clientWidth}`);
    }
    for (const cell of document.querySelectorAll("#rendered :is(th, td)")) {
        const range = document.createRange();
        range.selectNodeContents(cell);
        if (!/\\s/.test(cell.textContent) && range.getClientRects().length > 1) wrong.push(`broken word: ${cell.textContent}`);
    }

    // Nothing lies over words: neither bars in place of a text, nor what is fixed and not opened by the person.
    const bars = all.filter((one) => one.matches(".placeholder i"));
    const words = all.filter((one) => one.matches("#early:not(:placeholder-shown), .cm-line, #rendered *, #gone *"));
    if (bars.length > 0 && words.some((one) => one.value || one.textContent)) wrong.push("bars over a text");

    // A column of prose has a readable width.
    if (prose) {
        const one = all.find((one) => one.matches(prose.split(" ").at(-1)) && one.textContent.length > 200);
        if (!one) wrong.push(`no ${prose}`);
        else {
            const own = style.get(one);
            const context = document.createElement("canvas").getContext("2d");
            context.font = `${own.fontSize} ${own.fontFamily}`;
            const width = one.getBoundingClientRect().width - parseFloat(own.paddingLeft) - parseFloat(own.paddingRight);
            const columns = width / context.measureText("0").width;
            const isFull = innerWidth <= 768 && width > 0.8 * innerWidth - 8;
            if (columns > 90 || (columns < 45 && !isFull)) wrong.push(`a column of ${columns.toFixed(1)} ch, ${width} px`);
        }
    }

    // What can be pressed is in reach: it can be scrolled to, and nothing lies over it.
    const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.querySelector("#menu:not([hidden]), #people-panel:not([hidden])");
    const pressed = all.filter((one) => one.matches("a[href], button, input, select, textarea, summary, [role=menuitem], [role=option]"));
    for (const one of pressed) {
        if ((top && !top.contains(one)) || one.disabled || one.closest("[inert], .visually-hidden, .skip")) continue;
        const targets = [one, ...(one.labels ?? [])];
        const isHit = (target) => {
            const [box] = target.getClientRects();
            if (!box || box.width < 1) return false;
            const x = box.left + Math.min(box.width / 2, 40), y = box.top + box.height / 2;
            const hit = target.getRootNode().elementFromPoint(x, y);
            return hit !== null && (target.contains(hit) || hit.contains(target) && hit.matches("label"));
        };
        const isReached = (target) => {
            target.scrollIntoView({ block: "nearest", inline: "nearest" });
            return isHit(target);
        };
        // Only where necessary: scrolling lays out the page again.
        if (!targets.some(isHit) && !targets.some(isReached)) wrong.push(`out of reach: ${nameOf(one)}`);
    }
    if (isTouch) {
        wrong.push(...(SMALL)().map((one) => `too small: ${one}`));
        for (const one of all.filter((one) => one.matches(".rendered :is(a[href], input)"))) {
            const { width, height } = one.getClientRects()[0];
            if (Math.min(height, one.localName === "input" ? width : 24) < 24) wrong.push(`too small in a text: ${nameOf(one)}`);
        }
        // Phones zoom in on a field with smaller letters.
        const fields = "input:not([type=checkbox], [type=radio], [type=range], [type=file]), select, textarea";
        for (const one of all.filter((one) => one.matches(fields) && parseFloat(style.get(one).fontSize) < 16)) {
            wrong.push(`small letters: ${nameOf(one)}`);
        }
    }
    return wrong;
}""".replace("SMALL", SMALL)

# In the page: the visible views that documents and style sheets declare, and the dialogs that modules create.
SHOWN = """(declared) => [
    ...declared.filter((one) => document.querySelector(one)?.checkVisibility()),
    ...[...document.querySelectorAll("dialog[open]")].filter(({ id }) => !declared.includes(`#${id}`))
        .map((one) => `made: ${one.getAttribute("aria-labelledby") ?? one.className}`),
]"""


def declared():
    """Returns the selectors of the documents' views, and the number of dialogs that modules create."""
    found = set()
    for document in ("index.html", "admin.html"):
        text = (ROOT / "Web" / document).read_text()
        for tag in re.findall(r"<(?:section|article|aside|dialog|main)\b[^>]*>|<[^>]*role=\"(?:dialog|menu|tabpanel)\"[^>]*>", text):
            found |= {f"#{name}" for name in re.findall(r'\bid="([^"]+)"', tag)}
    for sheet in (ROOT / "Web" / "css").glob("*.css"):
        found |= set(re.findall(r'\.app\[data-[\w-]+="[\w-]+"\]', sheet.read_text()))
    made = [one for one in (ROOT / "Web" / "js").rglob("*.js") if re.search(r'(?<!closest)\("dialog"', one.read_text())]
    return sorted(found), len(made)


class Screen:
    """A page on devices of several kinds."""

    def __init__(self, page):
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def measure(self, prose, width, *, is_touch=False, height=800, **media):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_touch}
        self.session.send("Emulation.setDeviceMetricsOverride", size)
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": is_touch})
        self.page.emulate_media(**media)
        return self.page.evaluate(MEASURE, {"prose": prose, "isTouch": is_touch})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.send("Emulation.clearDeviceMetricsOverride")
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        self.session.detach()
        self.page.emulate_media(forced_colors="none", media="screen")


# In the page: fixed elements, which would be printed on every sheet.
FIXED_ON_PAPER = """() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
    && ["fixed", "sticky"].includes(getComputedStyle(one).position)).map((one) => `on each sheet: ${one.id || one.className}`)"""


def barriers_in(page):
    """Returns axe's findings in the shown view, in both schemes. Only colours differ between the schemes."""
    for scheme, rules in (("light", None), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        yield from (f"in {scheme}: {one}" for one in barriers(page, rules=rules))


def wrong_with(page, prose, language):
    """Yields the problems of the shown view, on all screens and on paper."""
    with Screen(page) as screen:
        for number, width in enumerate(WIDTHS):
            scheme = "dark" if (number + (language == "ar")) % 2 else "light"
            # Tablets in landscape orientation are 1180 wide.
            is_touch = width <= 1180
            found = screen.measure(prose, width, is_touch=is_touch, color_scheme=scheme)
            yield from (f"at {width}: {one}" for one in found)
        yield from (f"in forced colours: {one}" for one in screen.measure(prose, 1180, forced_colors="active"))
        # 1440 by 900 pixels at 200 %.
        yield from (f"at 200 %: {one}" for one in screen.measure(prose, 720, height=450, forced_colors="none"))
        page.emulate_media(media="print")
        yield from page.evaluate(FIXED_ON_PAPER)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_view_is_measured_on_every_screen(users, person, language):
    see = Seen(users, person, language)
    selectors, made = declared()
    shown, wrong = set(), []
    for name, (show, prose) in VIEWS.items():
        page = show(see)
        shown |= set(page.evaluate(SHOWN, selectors))
        wrong += [f"{name} {one}" for one in wrong_with(page, prose, language)]
        if language == "en":
            wrong += [f"{name} {one}" for one in barriers_in(page)]
    assert not wrong, "\n".join(wrong)
    missing = set(selectors) - shown
    assert not missing, f"no row of VIEWS shows {missing}"
    dialogs = {one for one in shown if one.startswith("made: ")}
    assert len(dialogs) == made, f"modules make {made} dialogs, and rows of VIEWS show {dialogs}"


def test_a_note_is_printed_as_a_page(server, person):
    note = server.create("On paper")
    server.put_text(note, TEXT)
    ann = person("Ann").open(note)
    # `print` is replaced, because it would open a window; the print layout is measured.
    ann.page.evaluate("() => (window.print = () => { document.body.dataset.asked = 'yes'; })")
    ann.editor.focus()
    ann.press("Control+p")
    expect(ann.page.locator("body")).to_have_attribute("data-asked", "yes")
    ann.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    ann.page.emulate_media(media="print")
    printed = ann.page.locator("#printed")
    expect(printed.locator("h2.level-1")).to_have_text("First heading")
    expect(printed.locator("td")).to_have_count(14)
    # Title and text begin at the same position.
    starts = "() => ['#title', '#printed p'].map((one) => document.querySelector(one).getBoundingClientRect().left)"
    title, text = ann.page.evaluate(starts)
    padding = ann.page.locator("#title").evaluate("(one) => parseFloat(getComputedStyle(one).paddingLeft)")
    assert title + padding == text
    assert ann.page.evaluate(FIXED_ON_PAPER) == []
    expect(ann.page.locator("#skip")).to_be_hidden()
    ann.picture("printed")
    ann.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(printed).to_be_hidden()
    ann.page.goto("/")
    expect(ann.page.locator("#skip")).to_be_hidden()


def test_nothing_covers_the_text_of_a_new_note_without_a_server(server, person):
    server.create("Never opened here")
    ann = person("Ann").open(server.create("Opened"))
    absent = ann.page.locator("#notes .note-title", has_text="Never opened here")
    expect(absent).to_be_visible()
    server.kill()
    ann.wait_for_status("offline")
    absent.click()
    expect(ann.page.locator("[data-kind=absent]")).to_contain_text("not been opened in this browser")
    expect(ann.page.locator("#loading")).to_be_hidden()
    ann.page.get_by_role("button", name="New note").first.click()
    expect(ann.page.locator("#early")).to_be_visible()
    expect(ann.page.locator("#loading")).to_be_hidden()
    server.start()
    ann.wait_until_saved()
