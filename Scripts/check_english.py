#!/usr/bin/env python3
"""Counts odd words in comments, names of tests, error texts and pages, and limits their number in each module.

    Scripts/check_english.py                       check, as `make lint` does
    Scripts/check_english.py --table               print the counts of every module
    Scripts/check_english.py --list [MODULE …]     print the locations of the odd words
    Scripts/check_english.py --tighten             lower the bounds to today's counts

`Scripts/english/odd-words.txt` lists the words. A module may have five odd words in 10,000, and one if it has fewer
than 2,000 words. `Scripts/english/at-most.txt` allows more in modules that are older than this rule; its numbers only
go down. Code, quoted text and data do not count: of a source file only comments and docstrings do. Names of tests and
error texts are two modules of the whole tree.
"""

import argparse
import bisect
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ROOT / "Scripts" / "english" / "odd-words.txt"
BOUNDS = ROOT / "Scripts" / "english" / "at-most.txt"

ODD_PER_10_000 = 5
ERROR_TEXTS = "error texts"
TEST_NAMES = "names of tests"

# Folders whose folders are modules.
FOLDERS_OF_MODULES = ("Sources/Adapters", "Sources/Kits", "Sources", "Tests", "Web/js", "Clients")
# Folders that are one module, although they are in one of these folders or contain folders.
WHOLE_FOLDERS = ("Sources/SystemLibraries", "Documentation/Decisions")

# Replaces everything that is not prose: no word contains it, and no phrase crosses it.
CODE = "\0"

WORD = re.compile(r"[a-z][a-z’'-]*")
# Code, quotations and addresses within prose.
NOT_PROSE = re.compile(
    r"```.*?```|``[^`]+``|`[^`\n]+`|“[^”]*”|\"[^\"\n]*\"|<!--.*?-->|\]\([^)\n]*\)|https?://\S+|<[^<>\n]+>", re.DOTALL
)

SWIFT_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>(?P<hash>#*)""".*?"""(?P=hash)'
    r'|#+"[^\n]*?"#+'
    r'|"(?:\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\\.|[^"\\\n])*")',
    re.DOTALL,
)
JAVASCRIPT_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<string>'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\])*`)"
    r"|(?<=[(,=:\[!&|?{};\n])(?P<regex>[ \t]*/(?![*/])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\\n\[])+/)",
    re.DOTALL,
)
CSS_TOKEN = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<string>\"[^\"\n]*\")", re.DOTALL)
PYTHON_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)"
    r'|(?P<string>[A-Za-z]{0,2}(?:"""(?:\\.|[^\\])*?"""|'
    r"'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\.|[^'\\\n])*'))",
    re.DOTALL,
)
SHELL_COMMENT = re.compile(r"^[ \t]*(?P<comment>#(?!!)[^\n]*)", re.MULTILINE)

SWIFT_TEST = re.compile(r'@(?:Test|Suite)\(\s*(?P<name>"(?:\\.|[^"\\\n])*")|\bfunc (?P<words>`[^`\n]+`)')
JAVASCRIPT_TEST = re.compile(r"\b(?:test|describe|it)\(\s*(?P<name>\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`)")
PYTHON_TEST = re.compile(r"^[ \t]*(?:async )?def (?P<name>test_\w+)", re.MULTILINE)

INTERPOLATION = re.compile(r"\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\$?\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\\[nt]")
SENTENCE = re.compile(r"\b[a-z’']+[,;:]? [a-z’']+[,;:]? [a-z’']+", re.IGNORECASE)
SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|WHERE|VALUES|PRAGMA|DROP|TABLE)\b")


class Prose:
    """The prose of one file: its text with everything else masked. Positions do not change."""

    def __init__(self, text):
        self.text = text
        self.mask = list(re.sub(r"\S", CODE, text))

    def show(self, start, end):
        self.mask[start:end] = self.text[start:end]

    def hide(self, start, end):
        self.mask[start:end] = re.sub(r"[^\n]", CODE, self.text[start:end])

    def replace(self, pattern, by):
        """Replaces each character that a pattern matches in the prose with the character `by`."""
        for match in re.finditer(pattern, "".join(self.mask), re.MULTILINE):
            self.mask[match.start() : match.end()] = by * (match.end() - match.start())

    def finished(self):
        """Returns the masked text, without quotations."""
        text = "".join(self.mask)
        for match in NOT_PROSE.finditer(text):
            self.hide(match.start(), match.end())
        return "".join(self.mask)


def comments_between(tokens, text, markers):
    """Returns the comments of a file, without their markers."""
    prose = Prose(text)
    for match in tokens.finditer(text):
        if match.lastgroup == "comment" or match.groupdict().get("comment"):
            prose.show(match.start("comment"), match.end("comment"))
    prose.replace(markers, " ")
    return prose.finished()


def python_prose(text):
    """Returns comments and docstrings."""
    prose = Prose(text)
    last = ":"
    end = 0
    for match in PYTHON_TOKEN.finditer(text):
        code = text[end : match.start()].rstrip()
        last = code[-1] if code else last
        end = match.end()
        if match.group("comment"):
            prose.show(match.start(), match.end())
            continue
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if last == ":" and not line.strip():
            prose.show(match.start(), match.end())
        last = '"'
    prose.replace(r'^[ \t]*(#+!?|[rb]*"""|"""$)|"""$|(?<=\s)#+', " ")
    return prose.finished()


def sentences_in_literals(tokens, text):
    """Returns literals for people: with three words in a row, and not SQL."""
    prose = Prose(text)
    for match in tokens.finditer(text):
        literal = match.groupdict().get("string")
        if not literal or not SENTENCE.search(INTERPOLATION.sub(" ", literal)) or SQL.search(literal):
            continue
        if tokens is PYTHON_TOKEN and literal.startswith('"""'):
            continue
        prose.show(match.start(), match.end())
        for part in INTERPOLATION.finditer(literal):
            prose.hide(match.start() + part.start(), match.start() + part.end())
    prose.replace(r"[\"'`]", CODE)
    return "".join(prose.mask)


def names_of_tests(pattern, text):
    prose = Prose(text)
    for match in pattern.finditer(text):
        group = "name" if match.group("name") else "words"
        prose.show(match.start(group), match.end(group))
    prose.replace(r"[\"'`]", CODE)
    prose.replace(r"_", " ")
    return "".join(prose.mask)


def markdown_prose(text):
    prose = Prose(text)
    prose.show(0, len(text))
    for match in re.finditer(r"^( *)(```|~~~).*?^\1\2|^    [^\n]*", text, re.DOTALL | re.MULTILINE):
        prose.hide(match.start(), match.end())
    return prose.finished()


def mutation_prose(text):
    """Returns the text of a patch before its first difference."""
    prose = Prose(text)
    prose.show(0, text.find("\n--- ") + 1)
    return prose.finished()


SLASHES = r"^[ \t]*(///?|/\*\*?|\*/?)|//+|\*/"


def kinds(path):
    """Returns how to read a file: (prose, literals, names of tests), each a function or None."""
    name = path.name
    ending = path.suffix
    folder = path.parts[0]
    is_product = folder in ("Sources", "Web", "Scripts", "Clients") and "tests" not in path.parts
    if ending == ".swift":
        return (
            lambda text: comments_between(SWIFT_TOKEN, text, SLASHES),
            (lambda text: sentences_in_literals(SWIFT_TOKEN, text)) if folder == "Sources" else None,
            (lambda text: names_of_tests(SWIFT_TEST, text)) if folder == "Tests" else None,
        )
    if ending in (".js", ".mjs", ".ts"):
        is_foreign = "languages" in path.parts and name != "en.js"
        return (
            lambda text: comments_between(JAVASCRIPT_TOKEN, text, SLASHES),
            (lambda text: sentences_in_literals(JAVASCRIPT_TOKEN, text)) if is_product and not is_foreign else None,
            (lambda text: names_of_tests(JAVASCRIPT_TEST, text)) if folder == "Tests" else None,
        )
    if ending == ".py":
        return (
            python_prose,
            (lambda text: sentences_in_literals(PYTHON_TOKEN, text)) if is_product else None,
            (lambda text: names_of_tests(PYTHON_TEST, text)) if name.startswith("test_") else None,
        )
    if ending in (".c", ".h", ".cpp"):
        return (lambda text: comments_between(SWIFT_TOKEN, text, SLASHES), None, None)
    if ending == ".css":
        return (lambda text: comments_between(CSS_TOKEN, text, SLASHES), None, None)
    if ending == ".md":
        return (markdown_prose, None, None)
    if ending == ".patch":
        return (mutation_prose, None, None)
    if ending in (".sh", ".yml", ".yaml", ".toml", ".conf") or name in ("Makefile", "Dockerfile"):
        return (lambda text: comments_between(SHELL_COMMENT, text, r"^[ \t]*#+"), None, None)
    return (None, None, None)


def module(path):
    """Returns the module of a file, named after its folder; the files of the root are one module."""
    for folder in WHOLE_FOLDERS:
        if path.is_relative_to(folder):
            return folder
    for folder in FOLDERS_OF_MODULES:
        if path.is_relative_to(folder) and len(path.parts) > len(pathlib.PurePath(folder).parts) + 1:
            return "/".join(path.parts[: len(pathlib.PurePath(folder).parts) + 1])
    return path.parts[0] if len(path.parts) > 1 else "the root"


def odd_pattern(lines):
    """Returns a pattern that finds the words of the list, and phrases also across line breaks.

    A match with a group is an exception.
    """
    forms = {}
    for line in lines:
        line = line.strip().lower()
        if not line or line.startswith("#"):
            continue
        is_plain = line.startswith("except:")
        for form in line.removeprefix("except:").split("|")[0].split(","):
            phrase = r"\s+".join(re.escape(word) for word in form.split())
            forms[form.strip()] = f"(?:{phrase})()" if is_plain else phrase
    # Longest first, so that a phrase within a longer one is not counted again.
    phrases = [forms[form] for form in sorted(forms, key=lambda form: (-len(form), form))]
    # Exceptions may overlap with the phrases that they exclude, so they are tried first.
    phrases.sort(key=lambda phrase: not phrase.endswith("()"))
    return re.compile(r"(?<![\w’'-])(?:" + "|".join(phrases) + r")(?![\w-])")


class Count:
    def __init__(self):
        self.words = 0
        # (path, line, word)
        self.odd = []

    def add(self, path, prose, pattern):
        # The mask is most of a file; one character of it is enough to separate phrases.
        prose = re.sub(rf"{CODE}[{CODE} \t]*", CODE, prose).lower()
        self.words += sum(1 for _ in WORD.finditer(prose))
        starts = [match.start() for match in re.finditer("\n", prose)]
        for match in pattern.finditer(prose):
            if match.lastindex:
                continue
            line = bisect.bisect_left(starts, match.start()) + 1
            self.odd.append((path, line, " ".join(match.group().split())))

    @property
    def goal(self):
        return max(1, self.words * ODD_PER_10_000 // 10_000)

    @property
    def rate(self):
        return 10_000 * len(self.odd) / self.words if self.words else 0


def measure(paths, read, pattern):
    """Returns the counts of each module."""
    counts = collections.defaultdict(Count)
    for path in paths:
        whole, literals, names = kinds(pathlib.PurePath(path))
        if whole is None:
            continue
        text = read(path)
        counts[module(pathlib.PurePath(path))].add(path, whole(text), pattern)
        if literals:
            counts[ERROR_TEXTS].add(path, literals(text), pattern)
        if names:
            counts[TEST_NAMES].add(path, names(text), pattern)
    return dict(counts)


def bounds(lines):
    """Reads lines such as `Sources/Gateway 12`: the maximum number of odd words."""
    found = {}
    for line in lines:
        line = line.strip()
        if line and not line.startswith("#"):
            name, number = line.rsplit(maxsplit=1)
            found[name] = int(number)
    return found


def too_many(counts, allowed):
    """Returns a line for each module above its limit."""
    lines = []
    for name, count in sorted(counts.items()):
        most = max(count.goal, allowed.get(name, 0))
        if len(count.odd) > most:
            lines.append(f"{name}: {len(count.odd)} odd words of {count.words}, at most {most} are allowed")
    return lines


def tightened(counts, allowed):
    """Returns the limits lowered to today's counts, without limits that are no longer needed."""
    return {
        name: min(number, len(counts[name].odd))
        for name, number in allowed.items()
        if name in counts and len(counts[name].odd) > counts[name].goal
    }


def files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    return sorted(path for path in set(listed) if path and (ROOT / path).is_file())


BOUNDS_HEAD = """\
# The modules that have more odd words than five in 10,000, and how many each may have. The numbers only go down:
# `Scripts/check_english.py --tighten` writes them after a module was rewritten.

"""


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", action="store_true", help="print the counts of every module")
    parser.add_argument("--list", nargs="*", metavar="MODULE", help="print where the odd words are")
    parser.add_argument("--tighten", action="store_true", help="lower the bounds to today's counts")
    options = parser.parse_args(arguments)
    pattern = odd_pattern(WORDS.read_text(encoding="utf-8").splitlines())
    allowed = bounds(BOUNDS.read_text(encoding="utf-8").splitlines())
    counts = measure(files(), lambda path: (ROOT / path).read_text(encoding="utf-8"), pattern)
    if options.table:
        print(f"{'module':40} {'words':>8} {'odd':>6} {'per 10,000':>11}")
        for name, count in sorted(counts.items()):
            print(f"{name:40} {count.words:8} {len(count.odd):6} {count.rate:11.1f}")
    if options.list is not None:
        for name in options.list or sorted(counts):
            for path, line, word in counts[name].odd if name in counts else []:
                print(f"{path}:{line}: {word}")
    if options.tighten:
        lines = [f"{name} {number}\n" for name, number in sorted(tightened(counts, allowed).items())]
        BOUNDS.write_text(BOUNDS_HEAD + "".join(lines), encoding="utf-8")
    lines = too_many(counts, allowed)
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        print("`Scripts/check_english.py --list MODULE` says where; Scripts/english/odd-words.txt, what to write instead",
              file=sys.stderr)  # fmt: skip
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
