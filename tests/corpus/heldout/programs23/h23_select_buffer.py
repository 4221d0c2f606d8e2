"""A tokenizer's test with a tool behind two pipes. The tool's answer is waited for with select and read by the line.
Once the tool tells a warning before its answer; both lines are read at once, and the second one lies in the reader's
own buffer while select waits. As a program with `tool`: the tool."""
import os
import select
import subprocess
import sys

from kit23 import crunch, role, start, told


def tool():
    for line in sys.stdin:
        n = int(line)
        crunch(0.15)
        before = "warning: %d has no byte fallback\n" % n if n == 35 else ""
        sys.stdout.write(before + "%d\n" % (n % 7))
        sys.stdout.flush()


def answer(pipe):
    while True:
        select.select([pipe], [], [])
        line = pipe.readline()
        if not line.startswith(b"warning"):
            return int(line)


def run():
    role("main")
    own = [sys.executable, os.path.abspath(__file__), "tool"]
    child = start(own, "tool", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for step in range(500):
        child.stdin.write(b"%d\n" % step)
        child.stdin.flush()
        told(step, answer(child.stdout))


if "tool" in sys.argv:
    tool()
else:
    run()
