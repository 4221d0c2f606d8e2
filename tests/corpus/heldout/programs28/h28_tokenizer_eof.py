"""A preparation sends texts into a tokenizer's stdin, closes it, and reads the answer to its end. A process that uploads
logs was started between, without close_fds, and has the writing end of that stdin: the tokenizer sees no end.

slow: there is no uploader, the tokenizer trains its merges for 64 s when it has all."""
import os
import subprocess
import sys

from kit28 import OWN, SLOW, STALL, STEPS, busy, compute, role, tell


def tokenizer():
    texts = sys.stdin.read()
    if SLOW:
        busy(64)
    print(len(texts.split()))


def prepare():
    theirs, ours = os.pipe()
    p = subprocess.Popen(OWN + ["tokenizer"] + (["slow"] if SLOW else []), stdin=theirs, stdout=subprocess.PIPE)
    role("tokenizer", p.pid)
    os.close(theirs)
    if not SLOW:
        os.set_inheritable(ours, True)
        up = subprocess.Popen([sys.executable, "-c", "import time\nwhile True:\n    time.sleep(600)"], close_fds=False, stdout=2)
        role("uploader", up.pid)
    os.write(ours, b"some words of a corpus " * 100)
    os.close(ours)
    return int(p.stdout.read())


if "tokenizer" in sys.argv:
    tokenizer()
else:
    role("main")
    for step in range(STEPS):
        compute()
        tell(step)
        if step == STALL:
            print("vocabulary of shard: %d words" % prepare(), flush=True)
