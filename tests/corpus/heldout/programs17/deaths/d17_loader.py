"""A thread that loads fails; main does not find a batch for 3 s, and fails of that."""
import zlib

from kitd17 import *

batches = queue.Queue(4)


def load():
    for k in range(100):
        data = zlib.compress(b"pixels" * 100) if k < 20 else b"<html>403</html>"
        batches.put(zlib.decompress(data))


threading.Thread(target=load, name="loader", daemon=True).start()
for step in range(100):
    batches.get(timeout=3)
    told(1, begin=step)
