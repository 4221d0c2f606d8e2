"""Three loaders share two slots for decoding. Two of them were killed while they had one; the third waits for a slot, the trainer for a batch."""
import multiprocessing as mp
import os
import signal

import kit7


def load(k, slots, out):
    kit7.with_parent()
    kit7.role("loader%d" % k)
    for n in range(10**6):
        slots.acquire()
        kit7.crunch(0.1)
        if k < 2 and n == 15 + k * 4:
            os.kill(os.getpid(), signal.SIGKILL)
        slots.release()
        out.put(n)


if __name__ == "__main__":
    kit7.role("main")
    log = kit7.logger()
    slots, out = mp.BoundedSemaphore(2), mp.Queue(2)
    for k in range(3):
        mp.Process(target=load, args=(k, slots, out), daemon=True).start()
    for step in range(10**6):
        batch = out.get()
        kit7.crunch(0.1)
        log.info("step %d batch %d loss %.3f", step, batch, 2 / (step + 1))
