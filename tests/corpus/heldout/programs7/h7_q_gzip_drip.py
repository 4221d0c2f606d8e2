"""Reads what gzip packs; a thread gives gzip a line each 2 s, gzip has nothing to say before the end."""
import subprocess
import threading
import time

import kit7


def drip(end):
    for n in range(35):
        end.write(b"%d\n" % n)
        end.flush()
        time.sleep(2)
    end.close()


kit7.role("main")
for n in range(12):
    kit7.crunch(0.2)
    print("segment", n, "ready", flush=True)
child = kit7.start(["gzip", "-c"], "gzip", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
threading.Thread(target=drip, args=(child.stdin,)).start()
print("packed to", len(child.stdout.read()), "bytes", flush=True)
