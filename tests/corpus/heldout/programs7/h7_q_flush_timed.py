"""A writer of metrics waits for 64 rows or 35 s, whatever is first; rows come each 70 s once in the middle."""
import threading
import time

import kit7

rows, some = [], threading.Condition()


def produce():
    for n in range(40):
        time.sleep(70 if n == 20 else 0.2)
        with some:
            rows.append(n)
            some.notify()


kit7.role("main")
threading.Thread(target=produce, name="producer").start()
seen = 0
while seen < 40:
    with some:
        some.wait_for(lambda: rows, timeout=35)
        seen, got = seen + len(rows), len(rows)
        rows.clear()
    if got:
        kit7.row(seen)
