#!/usr/bin/python3
"""Gate: no function over 100 lines, no file over 900, no header over 200, no folder of src/ with more than 25 C files.

    sizes.py [--root DIR]

Functions are measured by universal-ctags in src/, preload/ and plugins/; files in the whole tree.
"""
import argparse
import pathlib
import subprocess
import sys

FUNCTION_LINES = 100
FILE_LINES = 900
HEADER_LINES = 200
FOLDER_FILES = 25
CODE = ("src", "preload", "plugins")
TREES = (*CODE, "tests", "bench", "tools", "demo", "web/src")
SUFFIXES = {".c", ".h", ".py", ".ts", ".tsx", ".sh", ""}
# Plain data of fixed size in one struct; splitting it would scatter one record.
HEADER_EXCEPTIONS = {"src/model/incident/incident.h": 260, "preload/heapregion.h": 236}


def files(root, trees, suffixes):
    for tree in trees:
        for path in sorted((root / tree).rglob("*")):
            hidden = any(part in ("node_modules", "__pycache__", "fixtures", "corpus") for part in path.parts)
            if path.is_file() and not hidden and path.suffix in suffixes:
                yield path


def check_files(root):
    for path in files(root, TREES, SUFFIXES):
        name = path.relative_to(root).as_posix()
        lines = path.read_bytes().count(b"\n")
        if lines > FILE_LINES:
            yield f"{name}: {lines} lines, at most {FILE_LINES}; split it by what it is about"
        limit = HEADER_EXCEPTIONS.get(name, HEADER_LINES)
        if path.suffix == ".h" and name.startswith(CODE) and lines > limit:
            yield f"{name}: {lines} lines, at most {limit} for a header"


def check_folders(root):
    for folder in sorted({p.parent for p in files(root, ("src",), {".c"})}):
        name, count = folder.relative_to(root).as_posix(), len(list(folder.glob("*.c")))
        if count > FOLDER_FILES:
            yield f"{name}: {count} C files, at most {FOLDER_FILES}; make a room of those that belong together"


def check_functions(root):
    sources = [p.as_posix() for p in files(root, CODE, {".c", ".h"})]
    if not sources:
        return
    tags = subprocess.run(["ctags", "-L", "-", "--languages=C", "--kinds-C=f", "--fields=+ne", "-f", "-"],
                          input="\n".join(sources), text=True, capture_output=True, check=True).stdout
    for line in tags.splitlines():
        if line.startswith("!_TAG"):
            continue
        name, path, *fields = line.split("\t")
        span = dict(f.split(":", 1) for f in fields if f.startswith(("line:", "end:")))
        if "line" not in span or "end" not in span:
            continue
        lines = int(span["end"]) - int(span["line"]) + 1
        if lines > FUNCTION_LINES:
            where = pathlib.Path(path).relative_to(root).as_posix()
            yield f"{where}:{span['line']}: {name} has {lines} lines, at most {FUNCTION_LINES}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    problems = [*check_files(root), *check_folders(root), *check_functions(root)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
