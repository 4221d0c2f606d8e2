"""Two of three replicas answer; the third is waited for up to 72 s by wait(timeout) and then left out."""
import concurrent.futures
import threading

import kit5


def ask(k, stop):
    kit5.crunch(0.5)
    if k == 2:
        stop.wait()
    return k


def main():
    kit5.role("main")
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, k, stop) for k in range(3)]
        print("asking 3 replicas", flush=True)
        done, late = concurrent.futures.wait(asked, timeout=72)
        print(len(done), "answered", len(late), "left out", flush=True)
        stop.set()
    for step in range(8):
        kit5.crunch(0.2)
        print("step", step, flush=True)


main()
