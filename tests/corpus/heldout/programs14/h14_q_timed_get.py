"""A loader's process has met a file that it does not come through; the trainer waits for at most 45 s, takes
the loader down, and goes on with a new one."""
import multiprocessing
import queue
import time

from kit14 import crunch, role, told, with_parent


def load(out, begin):
    with_parent()
    role("loader%d" % begin)
    for k in range(begin, 100):
        if k == 60 and not begin:
            time.sleep(3600)
        out.put([k] * 100)
        time.sleep(0.1)


def loader(context, begin):
    out = context.Queue(maxsize=2)
    p = context.Process(target=load, args=(out, begin))
    p.start()
    return out, p


if __name__ == "__main__":
    role("main")
    context = multiprocessing.get_context("fork")
    out, p = loader(context, 0)
    step = 0
    while step < 90:
        try:
            out.get(timeout=45)
        except queue.Empty:
            print("loader gave nothing for 45 s, starting another one", flush=True)
            p.kill()
            out, p = loader(context, step + 1)
        else:
            crunch(0.14)
            told(step)
        step += 1
    p.kill()
