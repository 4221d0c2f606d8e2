"""So that Ctrl-C hits the trainer only, signals are blocked while it starts its loader, which has them blocked as well from then on. At the end the
trainer sends it SIGTERM and waits."""
import multiprocessing
import signal
import time

from kit11 import crunch, role, with_parent


def loader(out):
    with_parent()
    role("loader")
    k = 0
    while True:
        if out.qsize() < 8:
            out.put([k] * 100)
            k += 1
        time.sleep(0.05)


role("main")
context = multiprocessing.get_context("fork")
batches = context.Queue()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
process = context.Process(target=loader, args=(batches,))
process.start()
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
for step in range(40):
    batches.get()
    crunch(0.15)
    print("%d/40 [%s]" % (step + 1, "=" * (step // 4)), flush=True)
process.terminate()
process.join()
print("model written", flush=True)
