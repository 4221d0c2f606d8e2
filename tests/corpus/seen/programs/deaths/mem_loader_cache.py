"""A loader caches every decoded sample."""
from mem import *

role("main")
def loader():
    cache = {}
    for i in range(100000):
        cache[i] = block(1)
        time.sleep(0.008)
keep = block(150)
fork("loader", loader)
steady()
