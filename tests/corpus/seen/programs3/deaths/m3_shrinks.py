import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["old"]:
    role("old")
    kept = [hold(10) for _ in range(18)]
    while True:
        time.sleep(0.5)
        if len(kept) > 6:
            kept.pop()
if sys.argv[1:] == ["new"]:
    role("new")
    grow(5)
role("main")
for w in ("old", "new"):
    subprocess.Popen([sys.executable, __file__, w])
steps(900, pause=0.1)
