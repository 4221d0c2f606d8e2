"""One process has trained to its end; a thread that is no daemon still waits for work and keeps it alive."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time


class Recorder:
    def __init__(self):
        self.q = queue.Queue()
        self.t = threading.Thread(target=self.work, name="recorder")
        self.t.start()

    def work(self):
        while True:
            item = self.q.get()
            if item is None:
                return
            time.sleep(0.01)


kit.role("main")
rec = Recorder()
for i in range(24):
    time.sleep(0.4)
    rec.q.put(i)
    kit.log(i, "dict")
print("training done, best loss 1.62", flush=True)
