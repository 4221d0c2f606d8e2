import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

name, signals = sys.argv[1], sys.argv[2:]
role("outsider")
end = time.time() + 30
pid = None
while pid is None and time.time() < end:
    try:
        rows = [r.split() for r in open(os.environ["CORPUS_ROLES"])]
        pid = next((int(p) for r, p in rows if r == name), None)
    except OSError:
        pass
    time.sleep(0.05)
time.sleep(2)
for s in signals:
    os.kill(pid, getattr(signal, "SIG" + s))
    time.sleep(0.7)
time.sleep(3)
