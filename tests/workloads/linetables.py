"""linetables.py COUNT: prints, for code objects of COUNT files of the standard library (0: all), the line table
and the rows that the interpreter itself makes of it. Runs on every Python from 3.8 on."""
import binascii
import dis
import os
import random
import sys
import sysconfig

MINOR = sys.version_info[1]


def codes_of(code):
    yield code
    for c in code.co_consts:
        if hasattr(c, "co_code"):
            yield from codes_of(c)


def rows_of(code):
    if MINOR >= 10:
        rows = [(start, line or 0) for start, end, line in code.co_lines() if end > start]
    else:
        rows = list(dis.findlinestarts(code))
    merged = []
    for start, line in rows:
        if not merged or merged[-1][1] != line:
            merged.append((start, line))
    return merged


def main(count):
    paths = []
    for folder, _, names in os.walk(sysconfig.get_paths()["stdlib"]):
        paths += [os.path.join(folder, n) for n in names if n.endswith(".py")]
    paths.sort()
    if count and count < len(paths):
        paths = random.Random(count).sample(paths, count)
    for path in paths:
        try:
            with open(path, "rb") as f:
                top = compile(f.read(), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, UnicodeDecodeError):
            continue
        for code in codes_of(top):
            table = code.co_linetable if MINOR >= 10 else code.co_lnotab
            rows = " ".join("%d:%d" % r for r in rows_of(code))
            print(MINOR, code.co_firstlineno, binascii.hexlify(table).decode() or "-", len(code.co_code), rows, sep="\t")


main(int(sys.argv[1]))
