"""All of a shard goes to tr's input before its output is read."""
import subprocess

import kit8

kit8.role("main")
for shard in range(40):
    size = 8000 if shard < 12 else 4_000_000
    text = ("The quick brown fox %d\n" % shard) * (size // 24)
    tr = subprocess.Popen(["tr", "A-Z", "a-z"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    kit8.role("tr", tr.pid)
    tr.stdin.write(text)
    tr.stdin.close()
    words = len(tr.stdout.read().split())
    tr.wait()
    kit8.crunch(0.3)
    print("shard-%05d: %d words" % (shard, words), flush=True)
