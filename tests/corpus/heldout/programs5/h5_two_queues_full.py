"""Two stages with bounded queues: the main thread only reads results when it has put all jobs."""
import queue
import threading

import kit5


def stage(jobs, results):
    while True:
        job = jobs.get()
        kit5.crunch(0.02)
        results.put((job, job * 2))


def main():
    kit5.role("main")
    jobs, results = queue.Queue(5), queue.Queue(5)
    for _ in range(3):
        threading.Thread(target=stage, args=(jobs, results), daemon=True).start()
    for n in (3, 6, 12, 24, 48):
        for k in range(n):
            jobs.put(k)
        done = [results.get() for _ in range(n)]
        print("augmented", len(done), "images", flush=True)


main()
