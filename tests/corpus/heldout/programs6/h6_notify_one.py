"""Two kinds of consumers wait at one condition, the producer wakes one of them: the wrong one, which waits on. The producer then wants an answer."""
import threading

import kit6

change, items = threading.Condition(), []


def consume(kind):
    while True:
        with change:
            change.wait_for(lambda: any(k == kind for k, _ in items))
            item = next(x for x in items if x[0] == kind)
            items.remove(item)
        kit6.crunch(0.1)
        item[1].set()


kit6.role("main")
for kind in ("image", "text"):
    threading.Thread(target=consume, args=(kind,), daemon=True).start()
    kit6.crunch(0.3)  # "image" is the first to wait
for n in range(100):
    kind, done = "text" if n == 20 else "image", threading.Event()
    kit6.crunch(0.15)
    with change:
        items.append((kind, done))
        change.notify_all() if n < 19 else change.notify()
    if n != 19:
        done.wait()
    print("item", n, kind, flush=True)
