#!/usr/bin/python3
"""Gate: words that must not stand in the tree.

    words.py [--root DIR]

- a kernel path in a string of src/ outside agent/host/world_open.c (readers use the world's descriptors;
  text shown to people may name the path, then it is not the whole string up to the first blank)
- marks of unfinished work in src/
- this machine's paths, anywhere that is tracked, also as what a link leads to
"""
import argparse
import pathlib
import re
import subprocess
import sys

OPENER = "agent/host/world_open.c"
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# A string that could be handed to open(): the path is all of it, possibly with printf fields.
KERNEL_PATH = re.compile(r"^/(?:proc|sys)(?:/[^\s:,;()]*)?$")
# Compared with what the kernel writes or a person types, never opened.
COMPARED = {("sense/memory/cgroup_place.c", "/sys/fs/cgroup"), ("cli/run/watch.c", "/sys/fs/cgroup/")}
MARKS = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
# Folders that everybody has, so naming them says nothing about this machine.
COMMON = {"/", "/home", "/root", "/tmp", "/usr", "/usr/src", "/opt", "/srv", "/var", "/var/tmp", "/src", "/build"}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def blank(match):
    """Comments away, line numbers kept."""
    return re.sub(r"[^\n]", " ", match.group(0))


def without_comments(text):
    """Strings are matched first, so that a "//" in one is not taken for a comment."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|' + COMMENT.pattern,
                  lambda m: m.group(0) if m.group(0).startswith('"') else blank(m), text, flags=re.S)


def check_source(root, path):
    name = path.relative_to(root / "src").as_posix()
    text = path.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        m = MARKS.search(line)
        if m:
            yield f"src/{name}:{number}: {m.group(0)}: finish it, or write NEEDSWORK: with what is open and why"
    if name == OPENER:
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for literal in STRING.findall(line):
            if KERNEL_PATH.match(literal) and (name, literal) not in COMPARED:
                yield f'src/{name}:{number}: "{literal}": readers go through struct world; only {OPENER} opens'


def tracked(root):
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                          capture_output=True)
    if done.returncode == 0:
        return [root / name.decode() for name in done.stdout.split(b"\0") if name]
    return [p for p in root.rglob("*") if p.is_file() or p.is_symlink()]


def check_machine_paths(root):
    """Where this tree lies, and the folder above it: neither means anything elsewhere."""
    here = [p.as_posix() + "/" for p in (root, root.parent) if p.as_posix() not in COMMON]
    found = re.compile(rb"(?<![\w.~$})])(?:" + b"|".join(re.escape(p.encode()) for p in here) + rb")") if here else None
    for path in tracked(root):
        if path.is_symlink() and path.readlink().is_absolute():
            yield f"{path.relative_to(root).as_posix()}: a link to {path.readlink()}, which is of this machine"
        if found and path.is_file() and not path.is_symlink():
            m = found.search(path.read_bytes())
            if m:
                yield f"{path.relative_to(root)}: names this machine's path {m.group(0).decode()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    problems = []
    for path in sorted((root / "src").rglob("*.[ch]")):
        problems += check_source(root, path)
    problems += check_machine_paths(root)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
