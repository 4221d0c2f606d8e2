"""Four workers of a loader share a lock round a decoder that is not safe; worker 2 waits in it for a helper that has stopped to read."""
import multiprocessing as mp
import subprocess

import kit4


def worker(k, jobs, results, lock):
    kit4.with_parent()
    kit4.role("worker%d" % k)
    helper = None
    if k == 2:
        helper = kit4.start(["sh", "-c", "for i in 1 2 3 4 5 6; do read x; echo $x; done; exec sleep 100000"], "helper",
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while True:
        i = jobs.get()
        with lock:
            if helper:
                helper.stdin.write(b"%d\n" % i)
                helper.stdin.flush()
                helper.stdout.readline()
            kit4.crunch(0.03)
        results.put(i)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    jobs, results, lock = [context.SimpleQueue() for _ in range(4)], context.SimpleQueue(), context.Lock()
    for k in range(4):
        context.Process(target=worker, args=(k, jobs[k], results, lock), daemon=True).start()
    for step in range(1000):
        for k in range(4):
            jobs[k].put(step * 4 + k)
        got = [results.get() for _ in range(4)]
        kit4.crunch(0.2)
        print("step %d max %d" % (step, max(got)), flush=True)
