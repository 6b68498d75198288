"""`Scripts/check_english.py`: the texts that it checks, and the limits of modules."""

import pathlib
import sys

import pytest
from parley_server import ROOT

sys.path.insert(0, str(ROOT / "Scripts"))

import check_english  # noqa: E402

PATTERN = check_english.odd_pattern(
    ["# anew | a comment of the list", "nobody, nobody's | no user", "is told, stands, is none, is none more | so",
     "except: there is none, stands for"]
)


def odd(path, text):
    """Returns the odd words of a file by module, each with its line."""
    counts = check_english.measure([path], lambda _: text, PATTERN)
    return {name: [(line, word) for _, line, word in count.odd] for name, count in counts.items() if count.odd}


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("Sources/A/B.swift", "/// Nobody reads.\nlet a = 1  // It stands here.\n/* It is\n told. */", [1, 2, 3]),
        ("Sources/A/B.swift", "/// `nobody`, “nobody” and \"nobody\"\nfunc nobody() { nobody.stands() }", []),
        ("Sources/A/B.swift", "let a = \"// nobody\"\nlet b = \"\"\"\n  // nobody\n  \"\"\"  // It stands.", [4]),
        ("Sources/A/B.swift", "let a = \"\\(b(\"x\") ?? \"y\") // nobody\"  // stands", [1]),
        ("Sources/A/B.swift", "/// It is\nlet told = 1", []),
        ("Sources/A/B.swift", "/// A man who understands stands-ins.", []),
        ("Web/js/a/b.js", "/** Nobody. */\nconst a = /[\"'`]/;  // stands\nconst b = `nobody`;", [1, 2]),
        ("Scripts/a.py", '"""Nobody."""\n\n\ndef nobody():\n    """It stands."""\n    a = """nobody"""  # nobody\n',
         [1, 5, 6]),
        ("Scripts/a.sh", "#!/bin/nobody\n# nobody\necho nobody\n", [2]),
        ("Documentation/A.md", "Nobody [stands](nobody.md).\n\n```\nnobody\n```\n\n    nobody\n\n`nobody`\n", [1, 1]),
        ("Tests/Mutations/a.patch", "It stands.\n--- a/b\n+++ b/b\n+nobody\n", [1]),
    ],
)  # fmt: skip
def test_comments_docstrings_and_pages_count(path, text, expected):
    found = odd(path, text)
    name = check_english.module(pathlib.PurePath(path))
    assert [line for line, _ in found.pop(name, [])] == expected
    assert not found


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("Tests/A/B.swift", '@Test("nobody reads")\nfunc `it stands`() { read("nobody") }', ["nobody", "stands"]),
        ("Tests/Clients/test_a.py", "def test_nobody_is_told():\n    pass\n", ["nobody", "is told"]),
        ("Tests/Web/a.test.mjs", 'test("nobody reads", () => "nobody");', ["nobody"]),
    ],
)
def test_names_of_tests_are_one_module(path, text, expected):
    assert [word for _, word in odd(path, text)[check_english.TEST_NAMES]] == expected


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("Sources/A/B.swift", 'throw E("nobody may read \\(nobody)")', ["nobody"]),
        ("Sources/A/B.swift", 'let a = "nobody"\nlet b = "SELECT nobody from this WHERE nobody"', []),
        ("Scripts/a.py", "fail(f\"this is the {'' if a is none else f'{a} is none'} of it\")", []),
        ("Web/js/languages/en.js", '  "a.b": "nobody may read",', ["nobody"]),
        ("Web/js/languages/de.js", '  "a.b": "nobody may read",', []),
    ],
)
def test_error_texts_are_one_module(path, text, expected):
    assert [word for _, word in odd(path, text).get(check_english.ERROR_TEXTS, [])] == expected


@pytest.mark.parametrize(
    "path, name",
    [
        ("Sources/Adapters/ParleyStoreSQLite/A.swift", "Sources/Adapters/ParleyStoreSQLite"),
        ("Sources/Gateway/Rooms/A.swift", "Sources/Gateway"),
        ("Sources/SystemLibraries/CParleyCurl/a.h", "Sources/SystemLibraries"),
        ("Web/js/shell/a.js", "Web/js/shell"),
        ("Web/js/a.js", "Web"),
        ("Documentation/Decisions/0001-a.md", "Documentation/Decisions"),
        ("Documentation/A.md", "Documentation"),
        ("README.md", "the root"),
    ],
)
def test_modules_are_folders(path, name):
    assert check_english.module(pathlib.PurePath(path)) == name


def test_phrases_count_once():
    assert odd("A.md", "That is none more; that is\nnone.") == {"the root": [(1, "is none more"), (1, "is none")]}


def test_exceptions_do_not_count():
    assert not odd("A.md", "`nil` where there is\nnone: it stands for zero.")
    assert odd("A.md", "There is none; it stands. It is none.") == {"the root": [(1, "stands"), (1, "is none")]}


def counted(words, odd_words):
    count = check_english.Count()
    count.words = words
    count.odd = [("A.md", 1, "nobody")] * odd_words
    return count


@pytest.mark.parametrize(
    "words, odd_words, allowed, is_rejected",
    [
        (100, 1, {}, False), (1_999, 2, {}, True), (4_000, 2, {}, False), (4_000, 3, {}, True),
        (100, 7, {"A": 7}, False), (100, 8, {"A": 7}, True), (40_000, 20, {"A": 7}, False),
    ],
)  # fmt: skip
def test_rejects_a_module_above_its_bound(words, odd_words, allowed, is_rejected):
    assert bool(check_english.too_many({"A": counted(words, odd_words)}, allowed)) == is_rejected


def test_bounds_only_go_down():
    counts = {"worse": counted(100, 9), "better": counted(100, 3), "plain": counted(100, 1), "new": counted(100, 5)}
    allowed = check_english.bounds(["# heading", "worse 8", "better 8", "plain 8", "removed 8"])
    assert check_english.tightened(counts, allowed) == {"worse": 8, "better": 3}


def test_list_of_words_has_an_alternative_for_each():
    for line in check_english.WORDS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "except:")):
            forms, _, plain = line.partition(" | ")
            assert forms.strip() and plain.strip(), line
