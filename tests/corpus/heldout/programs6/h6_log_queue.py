"""Records go through a bounded queue to a thread that writes them; it has failed at a record, and the next full queue blocks who logs."""
import logging
import logging.handlers
import queue
import threading

import kit6


class Strict(logging.StreamHandler):
    def handleError(self, record):
        raise


kit6.role("main")
records = queue.Queue(10)
log = logging.getLogger("train")
log.setLevel("INFO")
handler = logging.handlers.QueueHandler(records)
handler.enqueue = records.put
log.addHandler(handler)
listener = logging.handlers.QueueListener(records, Strict(open("train.log", "w", encoding="ascii")))
listener.start()
threading.excepthook = lambda told: None
for step in range(1000):
    kit6.crunch(0.15)
    log.info("step %d%s", step, " \u00b5s" if step == 12 else "")
    if step % 5 == 0:
        print(".", end="", flush=True)
