"""A reader follows the log of a child with tail -f; the child writes a line each 22 s, then the last one."""
import subprocess
import time

import kit6

kit6.role("main")
open("child.log", "w").close()
child = kit6.start(["bash", "-c", "for n in $(seq 12); do echo batch $n; sleep 0.3; done; for n in 1 2 3; do sleep 22; echo epoch $n; done; echo END"],
                   "child", stdout=open("child.log", "a"))
tail = kit6.start(["tail", "-n", "+1", "-f", "child.log"], "tail", stdout=subprocess.PIPE, text=True)
for line in tail.stdout:
    if line.startswith("END"):
        break
    print(time.strftime("%H:%M:%S"), line.strip(), flush=True)
tail.kill()
child.wait()
