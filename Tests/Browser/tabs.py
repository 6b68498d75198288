"""A tab of a browser that is not driven by Playwright, whatever drives it instead."""

from conftest import wait_until

# Keys that have no character, as WebDriver names them.
CONTROL, HOME, END = "\ue009", "\ue011", "\ue010"


class Problem(Exception):
    """A command that the browser has refused, or a script that has thrown."""


class Tab:
    """What every driver's tab can do, on top of `run` and `perform`."""

    def run(self, function, *values):
        """Calls a function of the page with values of JSON; what it returns, or its promise."""
        raise NotImplementedError

    def perform(self, actions):
        """Has the browser do actions, as WebDriver describes them."""
        raise NotImplementedError

    def wait_for(self, function, *values, wanted=True):
        """Asks again and again until the function returns this."""
        seen = None

        def has_come():
            nonlocal seen
            seen = self.run(function, *values)
            return seen == wanted

        wait_until(has_come, lambda: f"{function} gave {seen!r}, not {wanted!r}")

    def press(self, *keys):
        """Presses keys together, and releases them."""
        downs = [{"type": "keyDown", "value": key} for key in keys]
        ups = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.perform([{"type": "key", "id": "keys", "actions": downs + ups}])

    def type(self, text):
        """Types where the caret is, key by key."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.perform([{"type": "key", "id": "keys", "actions": keys}])
