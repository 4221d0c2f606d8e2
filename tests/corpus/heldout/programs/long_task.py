"""The job waits for one task of 62 s in a process pool."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import concurrent.futures as cf
import hashlib
import time


def tokenize(sec):
    t, h = time.time() + sec, b""
    while time.time() < t:
        for _ in range(500):
            h = hashlib.sha1(h).digest()
        time.sleep(0.02)
    return len(h)


if __name__ == "__main__":
    kit.role("main")
    with cf.ProcessPoolExecutor(2) as ex:
        for i in range(8):
            ex.submit(tokenize, 0.4).result()
            kit.step(i)
        f = ex.submit(tokenize, 62)
        f.result()
    print("tokens ready", flush=True)
