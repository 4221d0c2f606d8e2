"""Forked children share a large index of their parent; one of them leaks."""
from mem import *

role("main")
index = block(200)
for i in range(3):
    fork(f"reader{i}", lambda: [sum(index[::4096]) or time.sleep(0.1) for _ in range(600)])
fork("leaker", grow, 60)
steady()
