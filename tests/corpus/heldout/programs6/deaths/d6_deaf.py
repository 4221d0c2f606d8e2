from kitd6 import *
signal.signal(signal.SIGTERM, lambda *a: print("asked to stop, one more epoch", flush=True))
for e in range(1, 200):
    epochs(1, e, 0.3)
