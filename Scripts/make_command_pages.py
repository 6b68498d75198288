#!/usr/bin/env python3
"""Writes the manual page and the completions for bash, zsh and fish, from the program's help.

    Scripts/make_command_pages.py PROGRAM PREFIX

They are written to PREFIX/share, where an installation under PREFIX has them.
"""

import pathlib
import re
import subprocess
import sys

#: What a flag takes, where it is something on disk.
FILES = ("FILE", "FOLDER", "PEM", "PATH")


def help_of(program, *command):
    """Returns the complete help of a command."""
    command = [program, *command, "--help-all" if command == ("serve",) else "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read_commands(text):
    """Returns the name and summary of each command."""
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0]
    return dict(re.findall(r"^  ([a-z]+) +(.*)$", listed, re.M))


def usages(name, text):
    """Returns the text after the command's name in each of its usage lines."""
    usage = re.sub(r"\n(?! +parley ) +", " ", text.partition("\n\n")[0])
    return re.findall(rf"parley {name}\b(.*)", usage)


def read_verbs(name, text):
    """Returns the words that may follow a command."""
    found = set()
    for usage in usages(name, text):
        found.update(re.match(r"(?: [a-z]+(?= |$))*", usage)[0].split()[:1])
    return sorted(found)


def read_flags(name, text):
    """Returns each flag with the name of its value, "" without a value, and the first line of its description."""
    flags = {}
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = re.match(r"^  (--[a-z][a-z-]*)(?:[ =]([A-Z][A-Z:=-]*))?", line)
        if not match:
            continue
        # The description is beside the flag, or below it.
        head, *rest = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        for flag, value in re.findall(r"(--[a-z][a-z-]*)(?: ([A-Z]+))?", head):
            flags.setdefault(flag, (value or match[2] or "", rest[0] if rest else below))
    for usage in usages(name, text):
        for flag, value in re.findall(r"(--[a-z][a-z-]*)(?: ([A-Z]+|[a-z]+\|[a-z|]+))?", usage):
            flags.setdefault(flag, (value, ""))
    flags.setdefault("--help", ("", "Say what there is"))
    if name == "serve":
        flags.setdefault("--help-all", ("", "List all settings"))
    return flags


class Program:
    """The program's help, parsed."""

    def __init__(self, path):
        self.path = path
        self.help = help_of(path)
        self.version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.commands = read_commands(self.help)
        self.texts = {name: help_of(path, name) for name in self.commands}
        self.verbs = {name: read_verbs(name, text) for name, text in self.texts.items()}
        self.flags = {name: read_flags(name, text) for name, text in self.texts.items()}
        for name, text in self.texts.items():
            if "FLAGS OF SERVE" in text or "settings of serve" in text:
                of_serve = {flag: what for flag, what in self.flags["serve"].items() if flag != "--help-all"}
                self.flags[name] = {**of_serve, **self.flags[name]}

    def files(self, name):
        """Returns the flags of a command whose value is a path."""
        return [flag for flag, (value, _) in self.flags[name].items() if value.startswith(FILES)]

    def values(self, name):
        """Returns the flags of a command with any other value."""
        return [flag for flag, (value, _) in self.flags[name].items() if value and flag not in self.files(name)]


def bash(program):
    cases = []
    for name in program.commands:
        cases.append(
            f"    {name})\n"
            f"      flags='{' '.join(program.flags[name])}'\n"
            f"      files=' {' '.join(program.files(name))} '\n"
            f"      values=' {' '.join(program.values(name))} '\n"
            f"      verbs='{' '.join(program.verbs[name])}' ;;"
        )
    return f"""\
# Completion of parley for bash.
_parley() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local flags='' files='' values='' verbs=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{' '.join(program.commands)} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{chr(10).join(cases)}
  esac
  if [[ $files == *" $before "* ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ $values == *" $before "* ]]; then
    return
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ -n "$verbs" ] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _parley parley
"""


def quoted(text, marks):
    """Returns text for a shell's single quotes, without characters that have a meaning for its completion."""
    return "".join(" " if mark in marks else mark for mark in text).replace("'", "’")


def zsh(program):
    lines = ["#compdef parley", "# Completion of parley for zsh.", "_parley() {", "  local -a found"]
    lines.append("  if (( CURRENT == 2 )); then")
    described = " ".join(f"'{name}:{quoted(summary, ':')}'" for name, summary in program.commands.items())
    lines.append(f"    found=({described})")
    lines += ["    _describe command found", "    return", "  fi", "  case ${words[2]} in"]
    for name in program.commands:
        lines.append(f"  {name})")
        arguments = []
        for flag, (value, words) in program.flags[name].items():
            taken = f":{quoted(value, ':')}:" + ("_files" if flag in program.files(name) else "") if value else ""
            about = f"[{quoted(words, '[]:')}]" if words else ""
            arguments.append(f"'*{flag}{about}{taken}'")
        verbs = program.verbs[name]
        arguments.append(f"'2:command:({' '.join(verbs)})'" if verbs else "'*:file:_files'")
        if verbs:
            arguments.append("'*:file:_files'")
        lines += [f"    _arguments {' '.join(arguments)} ;;"]
    return "\n".join([*lines, "  esac", "}", '_parley "$@"', ""])


def fish(program):
    lines = ["# Completion of parley for fish.", "complete -c parley -n __fish_use_subcommand -f"]
    # Commands that share a flag share its line.
    shared = {}
    for name, summary in program.commands.items():
        lines.append(f"complete -c parley -n __fish_use_subcommand -a {name} -d '{quoted(summary, '')}'")
        for verb in program.verbs[name]:
            lines.append(f"complete -c parley -n '__fish_seen_subcommand_from {name}' -a {verb}")
        for flag, (value, words) in program.flags[name].items():
            taken = "" if not value else " -r -F" if flag in program.files(name) else " -x"
            about = f" -d '{quoted(words, '')}'" if words else ""
            shared.setdefault(f"-l {flag[2:]}{taken}{about}", []).append(name)
    for flag, names in shared.items():
        lines.append(f"complete -c parley -n '__fish_seen_subcommand_from {' '.join(names)}' {flag}")
    return "\n".join([*lines, ""])


def roff(text):
    """Returns text in the format of a manual page, line by line."""
    escaped = text.rstrip().replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "...")
    return re.sub(r"^\.", r"\\&.", escaped, flags=re.M)


def manual(program):
    first = program.help.splitlines()[0]
    pages = [
        f'.TH PARLEY 1 "" "Parley {program.version}" "User Commands"',
        ".SH NAME", f"parley \\- {roff(first.partition(': ')[2].rstrip('.'))}",
        ".SH SYNOPSIS", ".B parley", ".I COMMAND", ".RI [ FLAGS ]",
        ".SH COMMANDS",
    ]  # fmt: skip
    for name, summary in program.commands.items():
        pages += [".TP", f".B {name}", roff(summary)]
    # Some commands share one explanation.
    for text in dict.fromkeys(program.texts.values()):
        names = [name for name in program.commands if program.texts[name] == text]
        pages += [f".SH PARLEY {', '.join(names).upper()}", ".nf", roff(text), ".fi"]
    pages += [".SH SEE ALSO", "/usr/share/doc/parley/Operations.md", ""]
    return "\n".join(pages)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = Program(pathlib.Path(sys.argv[1]).absolute())
    share = pathlib.Path(sys.argv[2]) / "share"
    for path, text in (
        ("man/man1/parley.1", manual(program)),
        ("bash-completion/completions/parley", bash(program)),
        ("zsh/vendor-completions/_parley", zsh(program)),
        ("fish/vendor_completions.d/parley.fish", fish(program)),
    ):
        (share / path).parent.mkdir(parents=True, exist_ok=True)
        (share / path).write_text(text)


if __name__ == "__main__":
    main()
