"""Debian's Firefox, controlled over WebDriver BiDi, without a driver program.

https://w3c.github.io/webdriver-bidi/ describes the commands. Each call waits for its answer.
"""

import json
import os
import re
import shutil
import subprocess

import tabs
from conftest import SECONDS
from tabs import Problem
from websockets.sync.client import connect

FIREFOX = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or "/usr/bin/firefox-esr"

PREFERENCES = {
    # The browser connects only to this machine.
    "network.proxy.type": 0,
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.systemAddon.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "data:,",
    # Several tabs share one window, and none may be suspended.
    "dom.min_background_timeout_value": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    # The browser must not ask questions, because no user answers them.
    "dom.disable_beforeunload": True,
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
}


class Firefox:
    """A browser with a new profile."""

    def __init__(self, folder):
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (folder / "user.js").write_text("".join(lines))
        self.log = open(folder / "firefox.log", "w+")
        self.process = subprocess.Popen(
            [FIREFOX, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in self.process.stderr:
            if match := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                break
        else:
            raise Problem(f"{FIREFOX} ended with {self.process.wait()} before it listened")
        self.socket = connect(
            f"{match[1]}/session", max_size=None, compression=None, open_timeout=SECONDS, legacy=True,
        )  # fmt: skip
        self.number = 0
        self.command("session.new", capabilities={})

    def command(self, method, /, **parameters):
        """Sends a command, and returns its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        # Skip events that arrive before the answer.
        while (answer := json.loads(self.socket.recv(SECONDS))).get("id") != self.number:
            pass
        if answer["type"] == "error":
            raise Problem(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def new_tab(self, person):
        """Opens a tab of a person, who is represented by a user context."""
        return Tab(self, self.command("browsingContext.create", type="tab", userContext=person)["context"])

    def close(self):
        self.command("browser.close")
        self.process.wait(SECONDS)
        self.socket.close()
        self.process.stderr.close()
        self.log.close()


class Tab(tabs.Tab):
    """A tab of a person's browser."""

    def __init__(self, browser, context):
        self.browser, self.context = browser, context

    def command(self, method, /, **parameters):
        return self.browser.command(method, context=self.context, **parameters)

    def open(self, address):
        self.command("browsingContext.navigate", url=address, wait="complete")
        return self

    def reload(self):
        self.command("browsingContext.reload", wait="complete")

    def come_to_front(self):
        self.command("browsingContext.activate")

    def close(self):
        self.command("browsingContext.close")

    def run(self, function, *values):
        answer = self.browser.command(
            "script.callFunction", target={"context": self.context}, awaitPromise=True,
            functionDeclaration=f"async (values) => JSON.stringify((await ({function})(...JSON.parse(values))) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(values)}],
        )  # fmt: skip
        if answer["type"] == "exception":
            raise Problem(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def perform(self, actions):
        self.command("input.performActions", actions=actions)
