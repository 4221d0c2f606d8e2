#!/usr/bin/python3
"""Gate: names that say where they belong, and functions that the product uses.

    names.py [--root DIR] [PATH...]

- a private (static) function whose name stands in three or more files of src/ and preload/: a search, a back-trace or a
  profile of vigil could not tell them apart, so each takes its module's name in front
- a function that is visible to other files but that no product file calls (tests alone do, or nobody)
- a function that is visible to other files, is called in its own only, and is named by no test: make it static

PATHs (files or folders) limit what is printed, not what is read. Reasoned exceptions stand in tools/names.ini.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

SHARED_BY = 3
CODE = ("src", "preload")
USERS = ("src", "preload", "plugins", "bench")
# Quoted text and comments are no use of a name.
BLANK = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|//[^\n]*|/\*.*?\*/', re.S)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
DECLARATION = re.compile(r"^(?![\s#])(?!.*\breturn\b)[^;{}=()]*?\b(\w+)\s*\([^{}]*?\)[^{};()]*;", re.M)


def c_files(root, trees):
    return [p for tree in trees for p in sorted((root / tree).rglob("*.[ch]"))
            if "fixtures" not in p.parts and not p.name.endswith((".bpf.c", ".bpf.h"))]


def functions(root):
    """[(name, file, is_static)] of all functions that are defined in CODE."""
    paths = "\n".join(map(str, c_files(root, CODE)))
    if not paths:
        return []
    out = subprocess.run(["ctags", "-L", "-", "--languages=C", "--kinds-C=f", "--extras=+F", "-x",
                          "--_xformat=%{name}\t%{file}\t%{input}"], input=paths, text=True, capture_output=True, check=True).stdout
    return [(line.split("\t")[0], pathlib.Path(line.split("\t")[2]), line.split("\t")[1] == "file")
            for line in out.splitlines() if line.count("\t") >= 2]


def exceptions(path):
    found, problems = {}, []
    if path.exists():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            m = re.match(r"^(\w+):\s+(\S.*)$", line)
            if m:
                found[m.group(1)] = m.group(2)
            else:
                problems.append(f"tools/names.ini:{number}: expected 'function: reason', got '{line}'")
    return found, problems


def word_counts(paths):
    """{file: Counter of words outside of text, comments and declarations}."""
    counts = {}
    for path in paths:
        text = BLANK.sub(" ", path.read_text(errors="replace"))
        counts[path] = collections.Counter(WORD.findall(DECLARATION.sub(" ", text)))
    return counts


def check(root):
    """(file, problem) of everything that is wrong."""
    excepted, problems = exceptions(root / "tools/names.ini")
    for problem in problems:
        yield root / "tools/names.ini", problem
    counts = word_counts(c_files(root, USERS))
    tests = set().union(*word_counts(c_files(root, ("tests",))).values()) if (root / "tests").exists() else set()
    private, used = collections.defaultdict(set), set()
    for name, path, static in functions(root):
        if static and path.suffix == ".c":
            private[name].add(path)
        if static or name == "main" or path.suffix != ".c":
            continue
        elsewhere = any(name in words for other, words in counts.items() if other != path)
        inside = counts[path][name] > 1  # once is the definition
        if elsewhere or (inside and name in tests):
            continue
        if name in excepted:
            used.add(name)
            continue
        where = path.relative_to(root)
        if inside:
            yield path, f"{where}: {name}() is used in this file only, and by no test: make it static"
        else:
            yield path, f"{where}: {name}() is called by {'tests only' if name in tests else 'nobody'}: delete it"
    for name, files in sorted(private.items()):
        if len(files) >= SHARED_BY:
            for path in sorted(files):
                yield path, (f"{path.relative_to(root)}: static {name}() stands in {len(files)} files; "
                             f"put the module's name in front, as in {path.stem}_{name}")
    for name in sorted(set(excepted) - used):
        yield root / "tools/names.ini", f"tools/names.ini: '{name}' is no longer needed; remove it"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("paths", nargs="*", metavar="PATH")
    args = parser.parse_args()
    root = args.root.resolve()
    wanted = [(root / p).resolve() for p in args.paths]
    problems = [text for path, text in check(root)
                if not wanted or any(path == w or w in path.parents for w in wanted)]
    print("\n".join(sorted(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
