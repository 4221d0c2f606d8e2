import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

q = queue.Queue()
def prefetch():
    for i in range(6):
        q.put(i)
    b"caption \xff\xfe".decode("utf-8")
threading.Thread(target=prefetch, daemon=True).start()
i = 0
while True:
    q.get(timeout=2)
    log(i); i += 1
    time.sleep(0.05)
