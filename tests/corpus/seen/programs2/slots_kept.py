"""One silent process: an error path in the upload threads keeps its slot; no slot is left for the trainer."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time

slots = threading.BoundedSemaphore(5)


def upload(k):
    try:
        time.sleep(0.1)
        if k % 8 == 7:
            raise TimeoutError(k)
        slots.release()
    except TimeoutError:
        pass                         # the next one will carry it


kit.role("main")
for i in range(10000):
    time.sleep(0.3)
    slots.acquire()
    threading.Thread(target=upload, args=(i,)).start()
