"""`parley import` and the page's import: the same notes of the same files, once, and in batches."""

import io
import json
import random
import shutil
import subprocess
import zipfile

from parley_server import PROGRAM, ROOT, ParleyServer


def parley(*arguments):
    """Runs a command of the program to its end."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def archive(files, method=zipfile.ZIP_DEFLATED, flags=None):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as made:
        for name, content in files.items():
            made.writestr(name, content)
    if flags is None:
        return data.getvalue()
    # The mark of UTF-8 is left out.
    old, new = flags
    return data.getvalue().replace(old, new)


def words(seed):
    source = random.Random(seed)
    return "".join(source.choice(["alpha ", "beta\n", "gamma, ", "é", "🐦", "\t", "1234 "]) for _ in range(3_000))


PAD = {
    "pad:g.1a$Plan": {
        "atext": {"text": "*one\nbetween\n*two\n\n", "attribs": "*0*1*3|1+5|1+8*0*2*3|1+5|1+1"},
        "pool": {"numToAttrib": {"0": ["list", "number1"], "1": ["start", "1"], "2": ["start", "2"], "3": ["lmkr", "1"]}},
        "head": 7,
    },
    "globalAuthor:a": {"name": "Ann"},
}

FILES = {
    "plain.md": "# One *two* [three](x)\r\n",
    "name only.TXT": "text",
    "empty.markdown": "",
    "underlined.md": "\ufeffTitle\rof two\r===\rtext",
    "front.md": '---\ntitle: "\\u00dcber \\"x\\" \\U0001F426" # remark\ntags: a\n---\n# Other\n',
    "wide.txt": "\ufeffGröße 🐦\r\n".encode("utf-16-le"),
    "latin.txt": "Größe".encode("latin-1"),
    "binary.md": b"a\0b",
    "e\u0301/inner.md": "composed",
    "a/b/c/d/e/f/g/h/i/deep.md": "deep",
    "star*/\u202ex.md": "x",
    "plan.etherpad": json.dumps(PAD),
    "own.json": json.dumps({"title": "Mine", "folder": "team/x", "text": "a\r\nb"}),
    "history.json": '[{"id":"a","text":"T","time":1}]',
    "words.zip": archive({"x/../../words.md": words(1), "long.txt": words(2) * 20, "picture.png": b"\x89PNG"}),
    "stored.zip": archive({"a.md": "# Stored", "b/a.md": "# Stored"}, zipfile.ZIP_STORED),
    "packed.zip": archive({"in.zip": "x", "bz.md": "x"}, zipfile.ZIP_BZIP2),
    "cut.zip": archive({"a.md": words(3)})[:-30],
}


def files_in(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read_by_page(folder, names):
    script = ROOT / "Tests" / "Web" / "read-imports.mjs"
    done = subprocess.run([shutil.which("node"), script, folder, *names], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def notes_of(tmp_path, data):
    """Folder, title and text of each note in a store."""
    out = tmp_path / f"export of {data.name}"
    assert parley("export", "--all", "--format", "json", "--output", out, "--data-dir", data).returncode == 0
    notes = [json.loads(file.read_text()) for file in out.rglob("*.json")]
    return sorted([note.get("folder", ""), note["title"], note["text"]] for note in notes)


def test_the_page_and_the_command_make_the_same_notes(tmp_path):
    folder = files_in(tmp_path / "files", FILES)
    names = sorted(name for name in FILES)
    found = read_by_page(folder, names)
    data = tmp_path / "data"
    ended = parley("import", folder, "--data-dir", data)
    assert ended.returncode == 1
    notes = notes_of(tmp_path, data)
    assert notes == sorted(row for row in found if len(row) == 3)
    assert len(ended.stdout.splitlines()) == len(notes) == 15
    # Page and command both report refused files.
    refused = [row[0] for row in found if len(row) == 2]
    assert sorted(refused) == sorted([
        "latin.txt", "binary.md", "history.json", "words.zip/picture.png", "packed.zip/in.zip", "packed.zip/bz.md", "cut.zip",
    ])  # fmt: skip
    for name in refused:
        assert f"parley import: {folder}/{name}: " in ended.stderr, ended.stderr
    # By themselves they are the same notes, but for their folders.
    for name in ("front.md", "underlined.md", "wide.txt", "plan.etherpad", "stored.zip"):
        one = tmp_path / f"one {name}"
        assert parley("import", folder / name, "--data-dir", one).returncode == 0
        assert notes_of(tmp_path, one) == sorted(read_by_page(folder, [name]))


def test_a_repeated_import_creates_no_duplicates(tmp_path):
    folder = files_in(tmp_path / "files", {f"{index % 7}/{index}.md": f"# {index}\r\n" for index in range(1_200)})
    (folder / "same.zip").write_bytes(archive({"a.md": "same", "b/../a.md": "same"}))
    data = tmp_path / "data"
    first = parley("import", folder, "--data-dir", data)
    assert (first.returncode, len(first.stdout.splitlines())) == (0, 1_202)
    # Some are lost, as if the import had been stopped.
    server = ParleyServer(tmp_path)
    server.start()
    for line in first.stdout.splitlines()[-3:]:
        assert server.request("DELETE", f"/api/notes/{line.split('  ')[0]}")[0] == 204
    server.stop()
    again = parley("import", folder, "--data-dir", data)
    assert (again.returncode, len(again.stdout.splitlines())) == (0, 3)
    assert "1199 notes were there already" in again.stderr
    assert len(notes_of(tmp_path, data)) == 1_202
    # A file by itself is made as often as it is asked for.
    for _ in range(2):
        made = parley("import", folder / "0" / "0.md", "--data-dir", data)
        assert made.returncode == 0 and len(made.stdout.split()) == 1
