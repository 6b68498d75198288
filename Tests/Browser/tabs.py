"""A tab of a browser that is controlled without Playwright."""

from conftest import wait_until

# WebDriver's codes of keys without a character.
CONTROL, HOME, END = "\ue009", "\ue011", "\ue010"


class Problem(Exception):
    """A refused command, or an exception in a script."""


class Tab:
    """The functions of a tab that are common to all drivers. A subclass implements `run` and `perform`."""

    def run(self, function, *values):
        """Calls a function in the page with JSON values, and returns its result or that of its promise."""
        raise NotImplementedError

    def perform(self, actions):
        """Performs actions of WebDriver."""
        raise NotImplementedError

    def wait_for(self, function, *values, wanted=True):
        """Calls a function until it returns the wanted value."""
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
        """Types at the caret, key by key."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.perform([{"type": "key", "id": "keys", "actions": keys}])
