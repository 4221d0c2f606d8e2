"""A reader with a budget of bytes: long quiet pauses by design."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
import time


class Bucket:
    def __init__(self):
        self.cv, self.left = threading.Condition(), 10
        threading.Thread(target=self.refill, daemon=True).start()

    def refill(self):
        while True:
            time.sleep(20)
            with self.cv:
                self.left += 2
                self.cv.notify_all()

    def spend(self):
        with self.cv:
            while not self.left:
                self.cv.wait()
            self.left -= 1


def main():
    kit.role("main")
    b = Bucket()
    for i in range(16):
        b.spend()
        kit.work(0.4)
        kit.step(i)


main()
