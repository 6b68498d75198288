"""A note that contains CR from another program is shown and edited line by line."""

from conftest import converge, wait_until
from playwright.sync_api import expect

TEXT = "# 😀 Plan\r\n\r\n|a|b|\r\n|-|-|\r\n|1|2|\r\rend"


def test_cr_is_part_of_the_line_end_and_not_of_the_line(server, person):
    note = server.create("Lines")

    def sent(operation, revision):
        return server.request("POST", f"/api/notes/{note}/changes", {"revision": revision, "operation": operation})

    def stored():
        return server.request("GET", f"/api/notes/{note}/text")["text"]

    sent([TEXT], 0)
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    ann.wait_for_text("# 😀 Plan\n\n|a|b|\n|-|-|\n|1|2|\n\nend")
    expect(ann.page.locator("#editor .cm-specialChar")).to_have_count(0)
    # Text typed after End is inserted before the CR.
    ann.put_caret(2)
    ann.press("End")
    ann.type("X")
    assert converge(ann, bo).startswith("# 😀 PlanX\n\n|a|b|")
    wait_until(lambda: stored() == TEXT.replace("Plan", "PlanX"), stored)
    # A new line ends with LF, and a table is recognised in the page view.
    ann.press("Control+End", "Enter")
    ann.type("Y")
    wait_until(lambda: stored().endswith("\r\rend\nY"), stored)
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.page.locator("#rendered table td")).to_have_text(["1", "2"])
    ann.page.get_by_role("button", name="Read as a page").click()
    # Further CRs arrive while the note is open, beside another CR and within a pair.
    head = server.request("GET", f"/api/notes/{note}")["revision"]
    sent([1, "!\r\n", len(stored()) - 1], head)
    assert converge(ann, bo).startswith("#!\n 😀 PlanX\n")
    # Backspace joins two lines and deletes both characters of the line end.
    bo.put_caret(3)
    bo.press("Backspace")
    assert converge(ann, bo).startswith("#! 😀 PlanX\n")
    wait_until(lambda: stored().startswith("#! 😀 PlanX\r\n\r\n|a|b|\r\n"), stored)
    # Setting the whole text normalises its line ends to LF.
    server.put_text(note, stored())
    wait_until(lambda: "\r" not in stored())
    assert converge(ann, bo) == stored()
