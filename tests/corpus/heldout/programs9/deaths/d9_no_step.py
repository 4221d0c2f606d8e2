import threading

from kitd9 import *

last = time.monotonic()


def watch():
    while time.monotonic() - last < 3:
        time.sleep(0.2)
    say("[watchdog] no step for 3 s (limit 3 s), aborting the process")
    os._exit(42)


threading.Thread(target=watch, daemon=True).start()
for k in range(10):
    steps(1, k, 0.1)
    last = time.monotonic()
time.sleep(600)
