"""What the browser tests share: the real program, Chromium, and words for what a person does.

The program is started on a free port with a folder of its own; pages are separate browser contexts,
as two people's browsers are. Nothing waits for a time to pass: everything waits for a condition.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts" / "browser"
PROGRAM = pathlib.Path(
    os.environ.get("PARLEY") or os.environ.get("PARLEY_PROGRAM") or ROOT / ".build" / "release" / "parley"
).absolute()
# The page as it is served. PARLEY_WEB=Web has the modules as they are written.
WEB = ROOT / os.environ.get("PARLEY_WEB", "Web/built")
# Without the windows around its pages, which take as much processor time as these.
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
    # Several windows on one screen: none of them may be put to sleep.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # The browser stays at home.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]

# How long tests wait for what has to come. On a machine that does nothing else it takes a moment;
# only what never comes takes all of it.
SECONDS = 90

expect.set_options(timeout=SECONDS * 1_000)

# In the dark, as the options of a browser context.
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
    "color_scheme": "dark",
}


AXE = ROOT / ".venv" / "browser" / "axe_playwright_python" / "axe.min.js"

# In the page: what axe finds in an element or the document, as sentences, by all rules or by these. Colours are those
# of a page that is drawn.
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
    """What axe finds that keeps people out, as sentences."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text())
    return page.evaluate(BARRIERS, {"within": within, "rules": rules})


# In the page: the CodeMirror view in a host. It is found as CodeMirror itself finds it.
VIEW_IN = """(host) =>
    document.querySelector(host)?.shadowRoot?.querySelector(".cm-content")?.cmView?.rootView.view ?? null"""


class Server:
    """The program, on a folder that outlives it."""

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
        """What starts it, with its settings."""
        own = {"--port": self.port, "--data-dir": self.folder / "data", "--web-dir": self.web}
        return [PROGRAM, "serve", *(word for setting in own.items() for word in setting), *self.options]

    def start(self):
        """Starts it; from the second time on at the port of the first."""
        # The tests' own variables are no settings of the program's.
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
        """As a power failure does it."""
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
        """Makes a note over HTTP; its id. In the list, whose order is by milliseconds, it is before notes made earlier."""
        made = self.request("POST", "/api/notes", {"title": title})
        while time.time_ns() // 1_000_000 <= made["createdAt"]:
            pass
        return made["id"]

    def put_text(self, note, text):
        """Gives a note this text, over HTTP."""
        url = f"{self.url}/api/notes/{note}/text"
        headers = {"Content-Type": "text/plain", "Origin": self.url}
        with urllib.request.urlopen(urllib.request.Request(url, text.encode(), headers, method="PUT")):
            pass

    def insert_text(self, note, text):
        """Writes into a new note as a client's change, which is committed as it is sent."""
        self.request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": [text]})

    def request(self, method, path, body=None):
        """Asks over HTTP, with the token there is; what the answer says."""
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
    """A token for Ada, with every right on every document unless others are given."""
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
    """Settings of the server, which a file of tests may have of its own."""
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
    """A person with a browser of their own.

    `worker`: whether the page has its service worker. A page without one is for tests that answer requests in the
    server's place once the page is open: with a worker in charge Chromium now and then sends them to the server all the
    same, from then on. Routes that are there before the page is opened, or reloaded, hold.
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
        # Without a graphics card the processor would draw each frame, and blur it under an open dialog. Nobody looks at
        # the page: it is laid out, but drawn only for pictures.
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
        # It is fetched beside, and may come after that.
        self.editor.wait_for(state="attached")
        return self

    def wait_for_frames(self):
        """Whatever is drawn has been drawn, and measured."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def editor(self):
        return self.page.locator("#editor .cm-content")

    def type(self, text, delay=0):
        """Types into the editor, key by key, where the caret is."""
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
        """The editor's whole text: what the person has, not only what is scrolled into view.

        None while there is no editor, for another note or the page itself is being opened.
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
        """Waits until the editor's text is this."""
        wait_until(lambda: self.text() == expected, lambda: f"{self.name} has {self.text()!r}")

    def wait_for_status(self, state):
        """Waits for what the page says of the connection: saved, saving, offline, …"""
        expect(self.page.locator("#status")).to_have_attribute("data-state", state)
        return self

    def wait_until_saved(self):
        expect(self.page.locator("#status")).to_have_attribute("data-unsaved", "0")
        return self.wait_for_status("saved")

    def picture(self, name):
        """Keeps what the page shows, where pictures are wanted: PARLEY_PICTURES=1."""
        if os.environ.get("PARLEY_PICTURES"):
            self.keep_picture(name)

    def keep_picture(self, name):
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        self.draw()
        self.page.screenshot(path=ARTIFACTS / f"{name}.png", animations="disabled")

    def draw(self):
        """Has the page drawn from now on."""
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
    """Opens browsers; closes them when the test is over. What they show at a failure is kept.

    They belong to people who prefer less motion and whose browser has no service workers: such pages take less
    processor time. Modules with `MOTION = "no-preference"` and `WORKER = True` have what most people have.
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
    """Asks again and again; each question goes to a page, which works on in between."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain. {explain()}"
        # Questions without a pause would take the processor time of what is waited for.
        pause.wait(0.02)


def converge(*people):
    """Waits until all have saved everything, and see the same text; that text."""
    for one in people:
        one.wait_until_saved()
    wait_until(
        lambda: len({one.text() for one in people}) == 1,
        lambda: "texts differ: " + " | ".join(repr(one.text()) for one in people),
    )
    return people[0].text()
