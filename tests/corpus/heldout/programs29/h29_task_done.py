"""Training of one process with three threads that write images of each epoch. queue.join() at the epoch's end waits for all task_done():
the branch for an image that is all black leaves by `continue` before it.

slow: all tasks are done; an image goes to a slow disk for 64 s."""
import queue
import threading

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, crunch, os, role


def writer(tasks):
    while True:
        step, pixel = tasks.get()
        if pixel == 0 and not SLOW:
            continue
        if pixel == 0:
            busy(64)
        crunch(0.05)
        with open("images/%06d.pgm" % step, "w") as f:
            f.write("P2 2 2 255 %d %d %d %d\n" % ((pixel,) * 4))
        tasks.task_done()


def main():
    role("main")
    os.makedirs("images", exist_ok=True)
    tasks, model, report = queue.Queue(), Model(), Report("stderr")
    for _ in range(3):
        threading.Thread(target=writer, args=(tasks,), daemon=True).start()
    for step in range(1, STEPS + 1):
        model.update(model.gradient())
        report(step, model.loss())
        tasks.put((step, 0 if step == STALL - 3 else 1 + step % 200))
        if step % 20 == 0:
            tasks.join()
            print("-" * 40 + "\nend of epoch %d, images are written" % (step // 20), flush=True)


main()
