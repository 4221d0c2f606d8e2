"""Asked to slow down: the client sleeps as long as the service said."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time

WAITS = [0, 0, 0, 4, 8, 16, 32]


def call(i):
    w = WAITS[i] if i < len(WAITS) else 0
    if w:
        print("429 retry after %d s" % w, flush=True)
        time.sleep(w)
    kit.work(0.4)


def main():
    kit.role("main")
    for i in range(14):
        call(i)
        kit.step(i)


main()
