"""Pictures and files that are pasted, dropped and chosen: what all users see, and the messages when it fails."""

import base64
import re
import struct
import zlib

import pytest
from conftest import wait_until
from playwright.sync_api import expect


@pytest.fixture
def server_options():
    return ["--file-size-max", "1MiB"]


def picture(width=40, height=30):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((200, y * 8, 90)) * width for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# Dispatches the paste or drop event that the browser fires for a file. `data` is the content, or only the size.
BRING = """(content, [kind, name, data]) => {
  const bytes = typeof data === "number" ? new Uint8Array(data) : Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name));
  const { left, top } = content.querySelector(".cm-line").getBoundingClientRect();
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true, clientX: left + 1, clientY: top + 5 });
  content.dispatchEvent(event);
}"""


def bring(person, kind, name, data):
    person.editor.evaluate(BRING, [kind, name, data if isinstance(data, int) else base64.b64encode(data).decode()])


def read(person):
    person.page.get_by_role("button", name="Read as a page").click()
    return person.page.locator("#rendered")


def is_drawn(image):
    return image.evaluate("(image) => image.complete && image.naturalWidth")


def text_of(server, note):
    return server.request("GET", f"/api/notes/{note}/text")["text"]


def test_all_users_see_pasted_and_dropped_pictures(guarded, person):
    server = guarded
    note = server.create("Pictures")
    ann = person("Ann", worker=False).open(note, f"#token={server.token}")
    bo = person("Bo").open(note, f"#token={server.token}")
    ann.type("Look: ")
    ann.wait_until_saved()
    # Others write before the picture while it is being uploaded.
    hold = []
    ann.page.route(re.compile("/files\\?name="), lambda route: hold.append(route))
    bring(ann, "paste", "a [red] square.png", picture())
    mark = ann.page.locator(".uploading")
    expect(mark).to_contain_text("a [red] square.png")
    bo.to_start()
    bo.type("Bo was here. ")
    expect(ann.editor).to_contain_text("Bo was here.")
    wait_until(lambda: mark.count() and hold)
    hold[0].continue_()
    expect(mark).to_have_count(0)
    ann.page.unroute_all()
    ann.type(" and on")
    ann.wait_until_saved()
    wait_until(
        lambda: re.fullmatch(
            r"Bo was here\. Look:\n\n!\[a \\\[red\\\] square\]\(files/[0-9a-f]{64}/a%20%5Bred%5D%20square\.png\) and on",
            text_of(server, note),
        ),
        lambda: text_of(server, note),
    )
    bring(bo, "drop", "blue.png", picture(20, 10))
    wait_until(lambda: text_of(server, note).startswith("![blue](files/"))
    for somebody in (ann, bo):
        page = read(somebody)
        images = page.locator("img.file")
        expect(images).to_have_count(2)
        expect(images.nth(1)).to_have_attribute("alt", "a [red] square")
        wait_until(lambda: [is_drawn(image) for image in images.all()] == [20, 40])
        assert images.first.get_attribute("src").startswith("blob:")
    ann.picture("pictures")


def test_other_files_are_links_and_missing_files_are_reported(server, person):
    note = server.create("Files")
    ann = person("Ann").open(note)
    ann.editor.click()
    huge = picture()[:16] + struct.pack(">II", 100_000, 100_000) + picture()[24:]
    for name, data in (("huge.png", huge), ("page.png", b"<script>document.title = 'run'</script>")):
        ann.page.locator("#file").set_input_files({"name": name, "mimeType": "image/png", "buffer": data})
        expect(ann.editor).to_contain_text(f"[{name}](files/")
    ann.wait_until_saved()
    text = text_of(server, note)
    assert "![" not in text
    ann.page.locator("#file").set_input_files(
        [{"name": f"{name}.pdf", "mimeType": "application/pdf", "buffer": name.encode()} for name in ("first", "second", "third")]
    )
    wait_until(lambda: "[third.pdf](files/" in ann.text(), ann.text)
    ann.wait_until_saved()
    several = text_of(server, note).removeprefix(text)
    assert several.index("[first") < several.index("[second") < several.index("[third"), "in the order given"
    # The text refers to the file as a picture nevertheless.
    server.put_text(note, text.replace("[huge", "![huge", 1) + f"\n\n![none](files/{'0' * 64}/none.png)")
    page = read(ann)
    expect(page.locator("a.file")).to_have_text(["huge.png", "page.png"])
    expect(page.locator("img")).to_have_count(0)
    expect(page).to_contain_text("The picture “none” was not found.")
    with ann.page.expect_download() as download:
        page.get_by_role("link", name="page.png").click()
    assert download.value.suggested_filename == "page.png"
    assert "run" not in ann.page.title()


def test_a_failed_upload_is_reported_and_leaves_no_text(server, person):
    note = server.create("Failures")
    server.put_text(note, "text")
    ann = person("Ann").open(note)
    ann.to_end()
    toast = ann.page.locator("#toast")
    bring(ann, "paste", "nothing.png", b"")
    expect(toast).to_contain_text("“nothing.png” was not added. The file is empty")
    bring(ann, "paste", "large.png", 50 << 20)
    expect(toast).to_contain_text("It has 50 MB, but only 1 MB are allowed")
    ann.context.set_offline(True)
    bring(ann, "paste", "away.png", picture())
    expect(toast).to_contain_text("Files need the server, which cannot be reached now.")
    ann.context.set_offline(False)
    expect(ann.page.locator(".uploading")).to_have_count(0)
    assert ann.text() == "text"
    # The server's limit is lower than announced: it rejects the upload unread, while the user keeps typing.
    asked = re.compile(rf"/api/notes/{note}/files$")
    ann.page.route(asked, lambda route: route.fulfill(json={"files": [], "bytesMax": 100 << 20}), times=1)
    ann.reload()
    ann.to_end()
    bring(ann, "paste", "refused.png", 50 << 20)
    ann.type(" and words")
    expect(toast).to_contain_text("“refused.png” was not added. It has 50 MB, but only 1 MB are allowed")
    expect(ann.page.locator(".uploading")).to_have_count(0)
    ann.wait_until_saved()
    assert ann.text() == text_of(server, note) == "text and words"
