"""Three tokens for the graphics card; a job that fails does not give its token back."""
import multiprocessing as mp

import kit4


def job(k, tokens, fails):
    kit4.with_parent()
    kit4.role("job%d" % k)
    try:
        tokens.acquire()
        kit4.crunch(0.4)
        if k in fails:
            raise ValueError("job %d: shapes do not fit" % k)
        tokens.release()
        print("job %d done" % k, flush=True)
    except ValueError as e:
        print(e, flush=True)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    tokens = context.BoundedSemaphore(3)
    procs = [context.Process(target=job, args=(k, tokens, (1, 4, 9))) for k in range(16)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
