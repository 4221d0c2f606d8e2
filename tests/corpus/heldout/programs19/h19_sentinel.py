"""Two ranks read tokens from a tool, one file after the other, line by line until there comes an empty string. The pipe
is one of bytes, and an empty string of bytes is no empty string: behind the last line of its first file, rank 1 reads
nothing for ever, quickly. Rank 0, whose first file is longer, waits for it."""
import subprocess
import sys

from kit19 import STEPS, Star, again, crunch, main, told


def tool(lines):
    for k in range(lines):
        print("17 4 %d 99" % k)


def tokens(rank):
    for lines in (400, 400) if rank == 0 else (160, 400):
        with subprocess.Popen(again("tool") + [str(lines)], stdout=subprocess.PIPE) as process:
            for line in iter(process.stdout.readline, ""):
                words = line.split()
                if words:
                    yield [int(w) for w in words]


def body(rank, world, port):
    star, stream = Star(rank, world, port), tokens(rank)
    for step in range(STEPS):
        batch = [next(stream) for _ in range(4)]
        crunch(0.2)
        star.mean("grad%d" % step, len(batch))
        if rank == 0:
            told(step)


if "tool" in sys.argv:
    tool(int(sys.argv[-1]))
else:
    main(2, body)
