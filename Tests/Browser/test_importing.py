"""Importing files: chosen or dropped, in folders and archives, from HedgeDoc and Etherpad; problems are reported."""

import base64
import io
import json
import zipfile

from conftest import PHONE, barriers
from playwright.sync_api import expect
from test_notes import titles

EVIL = "<img src=x onerror=alert(1)>"

DROP = """(place, files) => {
  const dropped = new DataTransfer();
  for (const [name, data] of files) {
    dropped.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
  }
  const event = (kind) => new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true });
  place.dispatchEvent(event("dragover"));
  place.dispatchEvent(event("drop"));
}"""


def archive(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return data.getvalue()


def pad(text, attribs):
    author = {"0": ["author", "a.1"], "1": ["list", "bullet1"], "2": ["lmkr", "1"]}
    record = {"atext": {"text": text, "attribs": attribs}, "pool": {"numToAttrib": author}, "head": 7}
    return json.dumps({"pad:Standup": record, "globalAuthor:a.1": {"name": EVIL}}).encode()


def choose(person, files):
    person.page.locator("#import-files").set_input_files(
        [{"name": name, "mimeType": "", "buffer": data} for name, data in files.items()]
    )


def open_import(person):
    person.page.get_by_role("button", name="More for all notes").click()
    person.page.get_by_role("menuitem", name="Import notes…").click()
    dialog = person.page.get_by_role("dialog", name="Import notes")
    expect(dialog).to_be_visible()
    return dialog


def texts_of(server):
    notes = server.request("GET", "/api/notes")["notes"]
    return sorted((note["title"], server.request("GET", f"/api/notes/{note['id']}/text")["text"]) for note in notes)


def test_files_become_notes_and_problems_are_reported(server, person):
    ann = person("Ann")
    ann.page.goto("/")
    dialog = open_import(ann)
    hedgedoc = archive({
        "Plan.md": "---\ntitle: The plan\ntags: work, birds\n---\n\n# Other\n",
        "Untitled-1.md": f"# {EVIL}\n" + "line\r\n" * 1_000,
        f"../../{EVIL}.png": b"\x89PNG",
    })  # fmt: skip
    choose(ann, {
        "one.md": "# Größe 🐦\n".encode(),
        "latin.txt": "Größe".encode("latin-1"),
        "notes.zip": hedgedoc,
        "bomb.zip": archive({"good.md": "good", "bomb.md": b"a" * (4 << 20)}),
        "standup.etherpad": pad("Today\n*one\n\n", "*0|1+6*0*1*2|1+5|1+1"),
    })  # fmt: skip
    expect(dialog.locator("#import-state")).to_have_text("4 notes were imported. 3 files were not.")
    rows = dialog.locator("section").nth(0).locator("li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("latin.txtIt is not text in UTF-8.")
    expect(rows.nth(1)).to_contain_text(f"notes.zip/../../{EVIL}.pngIt is not a Markdown or text file.")
    expect(rows.nth(2)).to_contain_text("bomb.zipA file in it becomes far too large")
    made = dialog.locator("section").nth(1).locator("li")
    expect(made.locator("a")).to_have_text(["Größe 🐦", "The plan", EVIL, "Standup"])
    expect(made.nth(3)).to_contain_text(f"The text of revision 7. Its history, chat and formatting stay in Etherpad. Written by {EVIL}.")
    assert barriers(ann.page) == []
    ann.picture("importing")
    assert texts_of(server) == [
        (EVIL, f"# {EVIL}\n" + "line\n" * 1_000),
        ("Größe 🐦", "# Größe 🐦\n"),
        ("Standup", "Today\n- one\n"),
        ("The plan", "---\ntitle: The plan\ntags: work, birds\n---\n\n# Other\n"),
    ]
    made.get_by_role("link", name="Größe 🐦").click()
    expect(dialog).to_be_hidden()
    ann.wait_for_text("# Größe 🐦\n")
    expect(ann.page.locator(".people-avatars .avatar")).to_have_count(1)
    expect(titles(ann)).to_have_count(4)
    # The next import begins with an empty list.
    dialog = open_import(ann)
    expect(dialog.locator("#import-state")).to_have_text("")
    choose(ann, {"empty.md": b""})
    expect(dialog.locator("#import-state")).to_have_text("1 note was imported.")


def test_a_folder_is_imported_on_a_phone_and_a_refused_file_is_reported(server, person, tmp_path):
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "one.md").write_text("first")
    (tmp_path / "notes" / "deep" / "two.txt").write_text("second")
    (tmp_path / "notes" / "photo.jpg").write_bytes(b"\xff\xd8")
    ann = person("Ann", worker=False, **PHONE)
    ann.page.goto("/")
    dialog = open_import(ann)
    for button in dialog.get_by_role("button").all():
        assert button.bounding_box()["height"] >= 44
    ann.page.locator("#import-folder").set_input_files(tmp_path / "notes")
    state = dialog.locator("#import-state")
    expect(state).to_have_text("2 notes were imported. 1 file was not.")
    expect(dialog).to_contain_text("notes/photo.jpg")
    for link in dialog.get_by_role("link").all():
        assert link.bounding_box()["height"] >= 44
    assert barriers(ann.page) == []
    ann.picture("importing-phone")
    dialog.get_by_role("button", name="Close").click()
    ann.page.locator(".sidebar").evaluate(DROP, [["dropped.md", base64.b64encode(b"# Dropped").decode()]])
    expect(state).to_have_text("1 note was imported.")
    dialog.get_by_role("button", name="Close").click()
    # A refused note is named, and deleted.
    ann.page.route("**/changes", lambda route: route.fulfill(status=413, json={"code": "tooLarge", "message": ""}))
    ann.page.locator(".sidebar").evaluate(DROP, [["refused.md", base64.b64encode(b"# Refused").decode()]])
    expect(state).to_have_text("0 notes were imported. 1 file was not.")
    expect(dialog).to_contain_text("refused.mdThis is too long.")
    assert [title for title, _ in texts_of(server)] == ["Dropped", "one", "two"]
