"""Shared by the browser tests: the real program, Chromium, and methods for the actions of a person.

The program is started on a free port with a new folder. Each person has a separate browser context,
like a separate browser. Tests wait for conditions, not for fixed times.
"""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import threading
import time
import urllib.request

import pytest
from playwright.sync_api import expect, sync_playwright
from ports import free_port
from sites import Site

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts" / "browser"
PROGRAM = pathlib.Path(
    os.environ.get("PARLEY") or os.environ.get("PARLEY_PROGRAM") or ROOT / ".build" / "release" / "parley"
).absolute()
# The built page. PARLEY_WEB=Web selects the source modules.
WEB = ROOT / os.environ.get("PARLEY_WEB", "Web/built")
# Without browser windows, which take as much processor time as the pages.
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    # Several windows share one screen, and none may be suspended.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # The browser connects only to this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]

# The time limit for conditions. On an idle machine they are met in a moment; only a failing test
# takes all of the time.
SECONDS = 90

expect.set_options(timeout=SECONDS * 1_000)

# A phone with the dark theme, as options of a browser context.
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
    "color_scheme": "dark",
}


AXE = ROOT / ".venv" / "browser" / "axe_playwright_python" / "axe.min.js"

# In the page: the findings of axe in an element or the document, as sentences, by all rules or by the given ones. The
# page is drawn first, because axe checks the drawn colours.
BARRIERS = """async ({ within, rules }) => {
    const page = document.documentElement.style;
    page.opacity = "1";
    const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
    const { violations } = await axe.run(within ?? document, { resultTypes: ["violations"], ...only });
    page.removeProperty("opacity");
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html, failureSummary }) =>
        `${id}: ${target.join(" ")}: ${failureSummary.split("\\n").at(-1).trim()}: ${html.slice(0, 200)}`));
}"""


def barriers(page, within=None, rules=None):
    """Returns axe's findings about accessibility, as sentences."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text())
    return page.evaluate(BARRIERS, {"within": within, "rules": rules})


# In the page: the CodeMirror view in a host, found in the same way as by CodeMirror.
VIEW_IN = """(host) =>
    document.querySelector(host)?.shadowRoot?.querySelector(".cm-content")?.cmView?.rootView.view ?? null"""


class Server:
    """The program, with a folder that outlives its process."""

    def __init__(self, folder, *options, web=WEB):
        self.folder = folder
        self.web = web
        self.options = options
        self.token = None
        self.log = open(folder / "server.log", "ab")
        self.process = None
        self.port = free_port()
        self.start()

    def command(self):
        """Returns the command with its settings."""
        own = {"--port": self.port, "--data-dir": self.folder / "data", "--web-dir": self.web}
        return [PROGRAM, "serve", *(word for setting in own.items() for word in setting), *self.options]

    def start(self):
        """Starts the program; after a restart, on the same port."""
        # Variables of the tests must not become settings of the program.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
        self.process = subprocess.Popen(
            [str(word) for word in self.command()], cwd=self.folder, stdout=subprocess.PIPE, stderr=self.log,
            env=environment,
        )  # fmt: skip
        deadline = time.monotonic() + SECONDS
        text = b""
        while not (match := re.search(rb"listening on (http://[^\s]*?:(\d+))", text)):
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, left))
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert chunk, f"the program said no address:\n{text.decode()}"
            text += chunk
        self.url = match.group(1).decode()
        self.port = int(match.group(2))

    def kill(self):
        """Kills the program, as a power failure does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        self.process.stdout.close()
        self.log.close()

    def create(self, title):
        """Creates a note over HTTP, and returns its id. It waits a millisecond, so that the list is in order of creation."""
        made = self.request("POST", "/api/notes", {"title": title})
        while time.time_ns() // 1_000_000 <= made["createdAt"]:
            pass
        return made["id"]

    def put_text(self, note, text):
        """Sets the text of a note over HTTP."""
        url = f"{self.url}/api/notes/{note}/text"
        headers = {"Content-Type": "text/plain", "Origin": self.url}
        with urllib.request.urlopen(urllib.request.Request(url, text.encode(), headers, method="PUT")):
            pass

    def insert_text(self, note, text):
        """Writes text into a new note as a change, which is committed unchanged."""
        self.request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": [text]})

    def request(self, method, path, body=None):
        """Sends a request with the server's token, if it has one. Returns the body of the answer."""
        headers = {"Content-Type": "application/json", "Origin": self.url}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None


SECRET = b"a secret for these tests, of 32 bytes or more"


def token(documents=None, seconds=3600, **claims):
    """Returns a token for Ada, by default with all rights to all documents."""
    verbs = ["read", "write", "publish", "presence", "manage"]
    rights = {
        "documents": documents or [{"match": "*", "may": verbs}],
        "rooms": [{"match": "notes", "may": ["read"]}],
    }
    now = int(time.time())
    claims = {
        "sub": "ada", "aud": "parley", "iat": now - 5, "exp": now + seconds, "parley": rights, **claims
    }

    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    whole = ".".join(encode(json.dumps(part).encode()) for part in ({"alg": "HS256"}, claims))
    return f"{whole}.{encode(hmac.new(SECRET, whole.encode(), hashlib.sha256).digest())}"


@pytest.fixture
def server_options():
    """The settings of the server; a test module may override them."""
    return []


@pytest.fixture
def server(tmp_path, server_options):
    running = Server(tmp_path, *server_options)
    yield running
    running.stop()


@pytest.fixture
def guarded(tmp_path):
    """A server that checks tokens."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    running = Server(
        tmp_path, "--hmac-secret-file", str(secret), "--audience", "parley", "--clock-skew", "0s"
    )
    running.token = token()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Person:
    """A person with a separate browser.

    `worker`: whether the page has its service worker. Tests that answer requests in place of the server after the page
    is open need a page without it: with a service worker, Chromium sometimes sends the requests to the server
    nevertheless. Routes that are set before the page is opened or reloaded always work.
    """

    def __init__(self, browser, server, name, color="#16737f", worker=True, **options):
        options.setdefault("viewport", {"width": 1180, "height": 760})
        self.name = name
        self.server = server
        self.context = browser.new_context(base_url=server.url, **options)
        self.context.set_default_timeout(SECONDS * 1_000)
        self.context.add_init_script(
            "try { localStorage.getItem('parley.profile') ?? localStorage.setItem('parley.profile',"
            f" JSON.stringify({{name: {name!r}, color: {color!r}}})) }} catch {{}}"
        )
        # Without a graphics card, the processor would draw each frame, and blur it under an open dialog. The page is
        # laid out, but drawn only for pictures.
        self.context.add_init_script(
            "const plain = new CSSStyleSheet(); document.adoptedStyleSheets.push(plain);"
            " plain.replaceSync('::backdrop { backdrop-filter: none !important } html { opacity: 0 }')"
        )
        if not worker:
            self.context.add_init_script("Object.defineProperty(navigator, 'serviceWorker', { get: () => undefined })")
        self.problems = []
        self.page = self.new_page()

    def new_page(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on(
            "console",
            lambda message: self.problems.append(message.text)
            if "Content Security Policy" in message.text
            else None,
        )
        return page

    def open(self, note, fragment=""):
        self.page.goto(f"/n/{note}{fragment}")
        return self.wait_for_editor()

    def reload(self):
        self.page.reload()
        return self.wait_for_editor()

    def wait_for_editor(self):
        self.wait_for_status("saved")
        # The editor is loaded in parallel, and may appear later.
        self.editor.wait_for(state="attached")
        return self

    def wait_for_frames(self):
        """Waits until the page has been drawn and measured."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def editor(self):
        return self.page.locator("#editor .cm-content")

    def type(self, text, delay=0):
        """Types into the editor at the caret, key by key."""
        self.editor.focus()
        self.page.keyboard.type(text, delay=delay)

    def to_start(self):
        self.editor.focus()
        self.press("Control+Home")

    def to_end(self):
        self.editor.focus()
        self.press("Control+End")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def text(self):
        """Returns the editor's whole text, not only the visible part.

        None while there is no editor, because another note or the page is being opened.
        """
        return self.page.evaluate(
            f"""() => ({VIEW_IN})("#editor")?.state.doc.toString() ?? null"""
        )

    def put_caret(self, anchor, head=None):
        """Selects from anchor to head, in UTF-16 units."""
        self.page.evaluate(
            f"""([anchor, head]) => {{
                const view = ({VIEW_IN})("#editor");
                view.focus();
                view.dispatch({{ selection: {{ anchor, head }} }});
            }}""",
            [anchor, anchor if head is None else head],
        )

    def wait_for_text(self, expected):
        """Waits until the editor has this text."""
        wait_until(lambda: self.text() == expected, lambda: f"{self.name} has {self.text()!r}")

    def wait_for_status(self, state):
        """Waits for a status of the page: saved, saving, offline, …"""
        expect(self.page.locator("#status")).to_have_attribute("data-state", state)
        return self

    def wait_until_saved(self):
        expect(self.page.locator("#status")).to_have_attribute("data-unsaved", "0")
        return self.wait_for_status("saved")

    def picture(self, name):
        """Saves a screenshot if PARLEY_PICTURES=1."""
        if os.environ.get("PARLEY_PICTURES"):
            self.keep_picture(name)

    def keep_picture(self, name):
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        self.draw()
        self.page.screenshot(path=ARTIFACTS / f"{name}.png", animations="disabled")

    def draw(self):
        """Makes the browser draw the page from now on."""
        self.page.evaluate("document.documentElement.style.opacity = '1'")

    def leave(self):
        self.context.close()
        assert self.problems == [], f"the page of {self.name} had problems"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[failure] = item.stash.get(failure, False) or report.failed
    return report


failure = pytest.StashKey[bool]()


@pytest.fixture
def person(browser, request):
    """Opens browsers, and closes them after the test. Screenshots are saved when a test fails.

    By default, people prefer reduced motion and browsers have no service workers, because such pages take less
    processor time. Modules with `MOTION = "no-preference"` and `WORKER = True` have the usual settings.
    """
    people = []

    def make(name, color="#16737f", **options):
        kinds = ("users", "guarded", "server")
        kind = next(kind for kind in kinds if kind in request.fixturenames)
        options.setdefault("reduced_motion", getattr(request.module, "MOTION", "reduce"))
        options.setdefault("worker", getattr(request.module, "WORKER", False))
        people.append(Person(browser, request.getfixturevalue(kind), name, color, **options))
        return people[-1]

    yield make
    if request.node.stash.get(failure, False):
        for one in people:
            if not one.page.is_closed():
                one.keep_picture(f"failed-{request.node.name}-{one.name}".replace(" ", "-"))
    for one in people:
        one.leave()


def wait_until(condition, explain=lambda: "", seconds=SECONDS):
    """Calls a function until it returns a true value.

    Events of pages, such as held requests, are handled only while a page is asked: a condition asks one first.
    """
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain. {explain()}"
        # Calls without a pause would take processor time from the tested programs.
        pause.wait(0.02)


def converge(*people):
    """Waits until everything is saved and all people have the same text. Returns the text."""
    for one in people:
        one.wait_until_saved()
    wait_until(
        lambda: len({one.text() for one in people}) == 1,
        lambda: "texts differ: " + " | ".join(repr(one.text()) for one in people),
    )
    return people[0].text()


@pytest.fixture
def site():
    """A web site of another origin."""
    running = Site()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def gateway(tmp_path, site):
    """A server that the pages of `site` may use."""
    running = Server(tmp_path, "--allowed-origin", site.url)
    yield running
    running.stop()
