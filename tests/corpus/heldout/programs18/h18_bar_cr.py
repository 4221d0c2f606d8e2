"""A trainer has a converter hand it shards through pipes. It waits with select() until there is something to read, and
reads a line; each line is answered with "ok", after which the converter goes on. For a large shard the converter draws a
bar: carriage returns and no end of a line. The trainer waits for the end of the line, the converter for "ok"."""
import select
import subprocess
import sys

from kit18 import again, crunch, role, start, told


def convert():
    for request in sys.stdin.buffer:
        shard = int(request)
        for part in range(3):
            crunch(0.05)
            if shard < 4:
                out = "shard %d part %d\n" % (shard, part)
            else:
                out = "\rshard %d [%-30s]" % (shard, "#" * 10 * (part + 1))
            sys.stdout.write(out)
            sys.stdout.flush()
            sys.stdin.buffer.readline()
        sys.stdout.write("done\n")
        sys.stdout.flush()


def next_shard(tool, shard):
    tool.stdin.write(b"%d\n" % shard)
    tool.stdin.flush()
    while True:
        select.select([tool.stdout], [], [], 5.0)
        line = tool.stdout.readline()
        if line.startswith(b"done"):
            return
        tool.stdin.write(b"ok\n")
        tool.stdin.flush()


def train():
    role("main")
    tool = start(again("convert"), "converter", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for step in range(400):
        if step % 10 == 0:
            next_shard(tool, step // 10)
        crunch(0.2)
        told(step)


if "convert" in sys.argv:
    convert()
else:
    train()
