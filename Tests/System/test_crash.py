"""The short form of `make crash-test`: twenty kills while clients of both kinds type."""

import log_checker
import pytest
from crash_run import CrashRun
from native_client import Editor
from whaler_client import WhalerEditor


def test_twenty_kills_neither_lose_nor_duplicate_edits(start):
    server = start()
    run = CrashRun(server, seed=20)
    while run.kills < 20:
        run.kill_after(run.rng.randint(1, 40))
        run.come_back()
    figures = run.finish()
    assert figures["acknowledged, native"] > 100
    assert figures["acknowledged, Whaler"] > 20
    assert figures["sent again after a kill"] > 0
    server.start()


def lose_native(native, whaler):
    native.sent[3] = native.confirmed[3] = 3


def move_native(native, whaler):
    native.confirmed[1] += 1


def see_another_change(native, whaler):
    revision, said = native.taken.popitem()
    native.taken[revision] = (*said[:2], [1, "?"])


def forget_native(native, whaler):
    del native.sent[2]


def lose_whaler(native, whaler):
    whaler.confirmed[max(whaler.confirmed)] = ["never stored"]


def forget_whaler(native, whaler):
    whaler.sent.clear()


def double_whaler(native, whaler):
    # Combine the two changes, as if one had been sent twice.
    native.claim["id"] = "another"


@pytest.mark.parametrize(
    "lie",
    [
        lose_native, move_native, see_another_change, forget_native, lose_whaler, forget_whaler,
        double_whaler,
    ],
)  # fmt: skip
def test_the_checker_detects_lost_and_duplicated_edits(server, lie):
    document = server.create_note()
    native = Editor("Ada", document).attach(server)
    whaler = WhalerEditor(server, document)
    for text in ("one", "two"):
        native.edit([text, *([3] if native.text else [])])
        native.settle()
    whaler.reach(2)
    whaler.edit([6, "three"])
    native.reach(3)
    whaler.settle()
    native.client.close()
    whaler.client.close()
    assert server.stop() == 0
    log_checker.check_document(server, document, [native], [whaler])
    lie(native, whaler)
    with pytest.raises(AssertionError):
        log_checker.check_document(server, document, [native], [whaler])
    server.start()
