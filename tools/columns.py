#!/usr/bin/python3
"""Gate: no line of C wider than 120 columns, a tab being eight. Comments count.

    columns.py [--root DIR] [PATH...]

Without PATHs: src/, preload/, plugins/, tests/ and bench/ (fixtures and the corpus left out).
"""
import argparse
import pathlib
import sys

COLUMNS = 120
TREES = ("src", "preload", "plugins", "tests", "bench")


def check(root, paths):
    for place in paths or TREES:
        here = root / place
        files = [here] if here.is_file() else sorted(p for p in here.rglob("*.[ch]") if not {"fixtures", "corpus"} & set(p.parts))
        for path in files:
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                width = len(line.expandtabs(8))
                if width > COLUMNS:
                    yield f"{path.relative_to(root)}:{number}: {width} columns, at most {COLUMNS}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("paths", nargs="*", metavar="PATH")
    args = parser.parse_args()
    problems = list(check(args.root.resolve(), args.paths))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
