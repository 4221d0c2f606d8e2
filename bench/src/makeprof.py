#!/usr/bin/python3
"""makeprof.py DIR [FILES=64] [FUNCTIONS=5000] [CALLERS=3]: profiles such as ranks of one program leave, made up."""
import marshal
import pathlib
import random
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    files, functions, callers = (int(a) for a in (sys.argv[2:] + ["64", "5000", "3"][len(sys.argv) - 2:]))
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    paths = [f"/opt/venv/lib/python3.11/site-packages/framework/part{i // 9}/module_{i}.py" for i in range(functions // 12 + 1)]
    names = [(draw.choice(paths), draw.randrange(1, 2000), f"function_{i % 900}_of_the_module") for i in range(functions)]
    above = [draw.sample(range(functions), callers) for _ in names]
    for rank in range(files):
        def numbers():
            n = draw.randrange(1, 100000)
            return n, draw.randrange(1, n + 1), draw.random(), draw.random() * 9
        stats = {}
        for i, key in enumerate(names):
            nc, cc, tt, ct = numbers()
            stats[key] = cc, nc, tt, ct, {tuple(names[k]): numbers() for k in above[i]}
        (folder / f"rank-{rank}.pid-{1000 + rank}.start-{rank + 1}.prof").write_bytes(marshal.dumps(stats))


main()
