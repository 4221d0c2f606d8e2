"""A guard of the machine's memory kills a loader; the trainer tells which of its loaders is gone and leaves."""
from kitd10 import *

guard = """
import os, sys, time
time.sleep(2.5)
print("guard: memory pressure, killing loader", flush=True)
os.kill(int(sys.argv[1]), 9)
time.sleep(2)
"""
role("main")
loaders = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) for _ in range(3)]
for k, p in enumerate(loaders):
    role("loader%d" % k, p.pid)
watch = subprocess.Popen([sys.executable, "-c", guard, str(loaders[1].pid)])
role("guard", watch.pid)
for k in range(100):
    print({"step": k, "loss": round(2 / (1 + k), 3)}, flush=True)
    time.sleep(0.15)
    for p in loaders:
        if p.poll() is not None:
            say("RuntimeError: DataLoader worker (pid %d) is killed by signal: Killed." % p.pid)
            for q in loaders:
                q.kill()
            sys.exit(1)
