"""Shards come out of zstd. After 600 of 4000 rows it has enough of one and waits for the child, whose output it no longer reads."""
import subprocess

import kit7

kit7.role("main")
with open("shard.txt", "w") as f:
    for n in range(40000):
        f.write("%d the quick brown fox %d\n" % (n, n * 7919))
subprocess.run(["zstd", "-q", "-f", "shard.txt"], check=True)
for shard in range(1000):
    child = subprocess.Popen(["zstd", "-dc", "shard.txt.zst"], stdout=subprocess.PIPE)
    kit7.role("zstd", child.pid)
    rows = 0
    for line in child.stdout:
        rows += 1
        if shard == 14 and rows == 600:
            break
    kit7.crunch(0.2)
    child.wait()
    print("shard-%06d.tar.zst: %d rows" % (shard, rows), flush=True)
