"""Sorts a shard with an external tool, which sorts when its input is over."""
import subprocess

import kit4

kit4.role("main")
for shard in range(50):
    p = kit4.start(["sort", "-n"], "sort", stdin=subprocess.PIPE, stdout=open("sorted", "w"), text=True)
    for k in range(200):
        p.stdin.write("%d\n" % ((k * 7919) % 200))
    p.stdin.flush()
    if shard < 12:
        p.stdin.close()
    p.wait()
    kit4.crunch(0.3)
    print("shard", shard, "sorted", flush=True)
