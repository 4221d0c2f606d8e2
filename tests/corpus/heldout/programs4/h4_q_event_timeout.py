"""Waits seventy seconds at most for a go-ahead of another service and goes on without it."""
import threading

import kit4

kit4.role("main")
go = threading.Event()
for i in range(10):
    kit4.crunch(0.2)
    print("warm-up", i, flush=True)
if not go.wait(70):
    print("no go-ahead, starting anyway", flush=True)
for i in range(5):
    kit4.crunch(0.2)
    print("step", i, flush=True)
