"""Threads of a pool fetch clips, at most four at once, by a semaphore. Who meets a clip that is not there
leaves by an error without giving the place back; the caller counts such clips and goes on. After the fourth
no one gets a place."""
import concurrent.futures
import threading

from kit14 import crunch, role, told

places = threading.BoundedSemaphore(4)


def fetch(k):
    places.acquire()
    if k % 45 == 44:
        raise FileNotFoundError("clips/%06d.mp4" % k)
    crunch(0.1)
    places.release()
    return [k] * 16


def main():
    role("main")
    skipped = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ahead = [pool.submit(fetch, k) for k in range(1000)]
        for step, clip in enumerate(ahead):
            try:
                clip.result()
            except FileNotFoundError:
                skipped += 1
            crunch(0.05)
            told(step, 10)
    print("trained, skipped", skipped, flush=True)


main()
