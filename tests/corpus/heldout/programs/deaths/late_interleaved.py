"""Two threads write at once, the traceback is torn apart by steps."""
from job import *

def steps():
    for i in range(2000):
        print(f"step {i}", flush=True)
t = threading.Thread(target=steps)
t.start()
raise LookupError("embedding row 99 was pruned")
