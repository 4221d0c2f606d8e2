"""Each rank writes its output into a pipe of its own, a thread copies it to a file. Rank 1's thread met a byte that is no UTF-8 and is gone."""
import os
import threading

import kit7


def copy(end, path):
    out = open(path, "w", buffering=1)
    try:
        for line in open(end, encoding="utf-8", closefd=False):
            out.write(line)
    except UnicodeDecodeError as error:
        out.write("tee: %s\n" % error)


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    end, mine = os.pipe()
    threading.Thread(target=copy, args=(end, "rank%d.out" % rank), daemon=True).start()
    for step in range(1000):
        kit7.crunch(0.15)
        total = line.reduce()
        text = b"caf\xe9" if rank == 1 and step == 15 else b"-" * 8000
        os.write(mine, b"step %d loss %.3f %s\n" % (step, total, text))


kit7.ranks(2, train)
