"""Debian's WebKit, the engine of Safari, controlled over WebDriver.

https://www.w3.org/TR/webdriver2/ describes the commands. WebKit needs a screen, which Xvfb provides in memory.
"""

import glob
import json
import os
import shutil
import socket
import subprocess
import urllib.error
import urllib.request

import tabs
from conftest import SECONDS, wait_until
from tabs import Problem

DRIVER = shutil.which("WebKitWebDriver") or "/usr/bin/WebKitWebDriver"

# The wrapper of each script: WebDriver waits until the last argument is called.
CALL = """
    const done = arguments[arguments.length - 1];
    (async () => (%s)(...JSON.parse(arguments[0])))().then(
        (value) => done({ value: value ?? null }), (problem) => done({ problem: String(problem) }));"""


class Screen:
    """A screen in memory; `name` is its value for DISPLAY."""

    def __init__(self):
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
            pass_fds=[writing], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(writing)
        with open(reading) as pipe:
            self.name = f":{pipe.readline().strip()}"

    def close(self):
        self.process.terminate()
        self.process.wait(SECONDS)


class WebKit:
    """The browser of one person. Its storage is removed when it is closed."""

    def __init__(self, folder, screen):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        surroundings = {
            "DISPLAY": screen.name, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "NO_AT_BRIDGE": "1",
            # There is no graphics card.
            "WEBKIT_DISABLE_DMABUF_RENDERER": "1", "LIBGL_ALWAYS_SOFTWARE": "1",
        }  # fmt: skip
        self.log = open(folder / "webkit.log", "w")
        self.process = subprocess.Popen(
            [DRIVER, f"--port={self.port}"], env={**os.environ, **surroundings}, stdout=self.log, stderr=self.log
        )
        self.path = ""
        wait_until(self.listens, lambda: f"{DRIVER} does not listen")
        browsers = glob.glob("/usr/lib/*/webkit2gtk-4.?/MiniBrowser")
        options = {"webkitgtk:browserOptions": {"binary": max(browsers), "args": ["--automation"]}}
        session = self.command("POST", "/session", capabilities={"alwaysMatch": options})
        self.path = f"/session/{session['sessionId']}"
        self.command("POST", "/timeouts", script=SECONDS * 1_000, pageLoad=SECONDS * 1_000)
        self.tab_in_front = self.command("GET", "/window")
        self.unused = [self.tab_in_front]

    def listens(self):
        try:
            return self.command("GET", "/status")["ready"]
        except OSError:
            return False

    def command(self, method, path, /, **parameters):
        """Sends a command, and returns its result."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.path}{path}",
            json.dumps(parameters).encode() if method == "POST" else None,
            {"Content-Type": "application/json"}, method=method,
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise Problem(f"{method} {path}: {said['error']}: {said['message']}") from error

    def new_tab(self):
        """Opens a tab; the first call returns the browser's initial tab."""
        handle = self.unused.pop() if self.unused else self.command("POST", "/window/new", type="tab")["handle"]
        return Tab(self, handle)

    def close(self):
        try:
            self.command("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(SECONDS)
            self.log.close()


class Tab(tabs.Tab):
    """A tab of a person's browser. Commands apply to the tab in front."""

    def __init__(self, browser, handle):
        self.browser, self.handle = browser, handle

    def command(self, method, path, /, **parameters):
        self.come_to_front()
        return self.browser.command(method, path, **parameters)

    def come_to_front(self):
        if self.browser.tab_in_front != self.handle:
            self.browser.command("POST", "/window", handle=self.handle)
            self.browser.tab_in_front = self.handle

    def open(self, address):
        self.command("POST", "/url", url=address)
        return self

    def reload(self):
        self.command("POST", "/refresh")

    def close(self):
        self.command("DELETE", "/window")
        self.browser.tab_in_front = None

    def run(self, function, *values):
        answer = self.command("POST", "/execute/async", script=CALL % function, args=[json.dumps(values)])
        if "problem" in answer:
            raise Problem(answer["problem"])
        return answer["value"]

    def perform(self, actions):
        self.command("POST", "/actions", actions=actions)
