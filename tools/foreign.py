#!/usr/bin/python3
"""Gate: what another user may have named is opened through the door (decision 31).

    foreign.py [--root DIR]

Refused in src/, outside of DOOR, unless tools/foreign.ini says why it is fine:

- a call that opens, looks at, makes, changes or removes a file by its name, or connects to an address
- a name below a folder that a process chose: /proc/PID/root, cwd, exe, map_files and fd, wherever it is put together

Fine without a word: a name that stands in the source whole ("/dev/null", "."), and one that begins at a descriptor of
[descriptors]. Prints file:line of each breach; exit status 1 then. An entry that is no longer needed is refused.
"""
import argparse
import fnmatch
import pathlib
import re
import sys

# The door itself, and the plain openers that it and the rest are made of (their callers are looked at instead).
DOOR = {"base/foreign.c", "base/foreign_helper.c", "base/file.c", "sense/proc/procfile.c"}

# call: (which argument is the folder's descriptor, which is the name); None: there is no such.
CALLS = {name: (None, 0) for name in """open fopen freopen creat opendir stat lstat statfs statvfs access chown lchown
chmod mkdir rmdir unlink remove rename link readlink realpath truncate mkfifo mknod mkdtemp mkstemp mkostemp utimes nftw
ftw fts_open scandir chdir chroot file_replace file_mkdirs""".split()}
CALLS |= {name: (0, 1) for name in """openat fstatat statx faccessat readlinkat mkdirat unlinkat renameat renameat2 linkat
fchownat fchmodat mkfifoat mknodat utimensat file_read_at file_slurp file_write_at inotify_add_watch""".split()}
CALLS |= {"symlink": (None, 1), "symlinkat": (1, 2), "connect": (None, None)}

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
CALL = re.compile(r"(?<![\w.>])(" + "|".join(CALLS) + r")\(")
FUNCTION = re.compile(r"^(?![#\s}])[^;{}]*?\b(\w+)\([^;{}]*\)\s*\n?\{", re.M)
THEIRS = re.compile(r'%[0-9]*(?:l|ll|j)?[du]/(?:root|cwd|exe|map_files)\b|%[0-9]*(?:l|ll|j)?[du]/fd/|/map_files/')
SECTIONS = ("descriptors", "files", "functions")


def rules(path):
    """{section: {entry: reason}}, problems; a line without a reason is an error."""
    found, problems, section = {s: {} for s in SECTIONS}, [], None
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        head, m = re.match(r"^\[(\w+)\]$", line), re.match(r"^([^:]*[^:\s]):\s+(\S.*)$", line)
        if head and head[1] in SECTIONS:
            section = head[1]
        elif m and section:
            found[section][" ".join(m[1].split())] = m[2]
        else:
            problems.append(f"tools/foreign.ini:{number}: expected 'entry: reason' in one of the sections "
                            f"{', '.join(SECTIONS)}, got '{line}'")
    return found, problems


def without_comments(text):
    """The same text, of the same length and lines, with comments blank and quoted text kept."""
    return TOKEN.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def without_strings(text):
    return TOKEN.sub(lambda m: m[0][0] + "x" * (len(m[0]) - 2) + m[0][0], text)


def arguments(text, blank, at):
    """The arguments of a call whose bracket opens before `at`."""
    depth, start, found = 0, at, []
    for i in range(at, len(blank)):
        c = blank[i]
        if c in "([{":
            depth += 1
        elif c in ")]}" and depth > 0:
            depth -= 1
        elif c == ")" or (c == "," and depth == 0):
            found.append(" ".join(text[start:i].split()))
            start = i + 1
            if c == ")":
                break
    return found


def breaches(path, descriptors, used):
    """(line, function, what) of each name that a file uses by itself."""
    text = without_comments(path.read_text(errors="replace"))
    blank = without_strings(text)
    starts = [(m.start(), m[1]) for m in FUNCTION.finditer(blank)]

    def function_at(at):
        return next((name for start, name in reversed(starts) if start < at), "")

    def line_at(at):
        return text.count("\n", 0, at) + 1

    for m in CALL.finditer(blank):
        folder_at, path_at = CALLS[m[1]]
        args = arguments(text, blank, m.end())
        if starts and any(start <= m.start() < blank.index("{", start) for start, _ in starts):
            continue  # the head of a function of that name
        folder = args[folder_at] if folder_at is not None and folder_at < len(args) else ""
        name = args[path_at] if path_at is not None and path_at < len(args) else None
        last = re.search(r"(\w+)\)?$", folder)
        if last and last[1] in descriptors:
            used.add(last[1])
            continue
        if name is not None and re.fullmatch(r'"(?:/[^"]*|\.)"', name):
            continue
        yield line_at(m.start()), function_at(m.start()), f"{m[1]}({', '.join(args[:2])}...)"
    for m in TOKEN.finditer(text):
        if m[0][0] == '"' and THEIRS.search(m[0]):
            yield line_at(m.start()), function_at(m.start()), f"{m[0]} is a name below what a process chose"


def check(root):
    allowed, problems = rules(root / "tools/foreign.ini")
    yield from problems
    used = set()
    src = root / "src"
    for path in sorted(src.rglob("*.c")):
        name = path.relative_to(src).as_posix()
        if name in DOOR or name.endswith(".bpf.c"):
            continue
        for line, function, what in sorted(breaches(path, allowed["descriptors"], used)):
            globs = [g for g in allowed["files"] if fnmatch.fnmatch(name, g)]
            used.update(globs)
            entry = f"{name} {function}"
            if entry in allowed["functions"]:
                used.add(entry)
            elif not globs:
                yield (f"src/{name}:{line}: {function}: {what}: open it by base/foreign or sense/proc/procfile, or say in "
                       f"tools/foreign.ini why it is vigil's own")
    for section in SECTIONS:
        for entry in allowed[section]:
            if entry not in used:
                yield f"tools/foreign.ini: '{entry}' is no longer needed"


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    found = list(check(args.parse_args().root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
