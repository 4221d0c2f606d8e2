"""Three ranks clean their texts by a pattern of words that may be parted or not. On a long line of rank 1 that ends
with a stop, the pattern tries all ways to part it. The others wait for rank 1.

slow: rank 1 has many lines, which take 48 s."""
import re
import time

from kit20 import SLOW, STEPS, Mesh, crunch, main, told

WORDS = re.compile(r"^(\w+\s?)*$")


def clean(rank, step):
    line = "a plain line of words"
    if rank == 1 and step == 38 and not SLOW:
        line = "pneumonoultramicroscopicsilicovolcanoconioses and many more of these words."
    end = time.monotonic() + (48 if SLOW and rank == 1 and step == 38 else 0)
    while WORDS.match(line) and time.monotonic() < end:
        pass
    return line


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(STEPS):
        clean(rank, step)
        crunch(0.2)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(3, body)
