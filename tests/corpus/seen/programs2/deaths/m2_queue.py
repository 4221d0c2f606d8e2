import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
q = queue.Queue()
def fill():
    while True:
        q.put(hold(6)); time.sleep(0.06)
threading.Thread(target=fill, daemon=True).start()
for k in range(400):
    q.get(); log(k); time.sleep(0.5)
