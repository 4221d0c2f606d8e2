"""A thread of rank 1 watches its memory and ends the process at a limit, with its own kill -9. A sampler that rank 1
had forked still has the sockets open, so nobody else is told. The script that started the ranks waits for rank 0
first."""
import os
import signal
import threading
import time

from kit12 import batch, by_hand, join_group, role, train_step, trainer


def sampler():
    """A forked process that notes the load, in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        role("sampler")
        launcher = int(os.environ["JOB_LAUNCHER"])
        while os.path.exists(f"/proc/{launcher}"):
            open("load.log", "a").write(open("/proc/loadavg").read())
            time.sleep(1)
        os._exit(0)


def limit_memory(after):
    def watch():
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=watch, daemon=True).start()


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    train_step(model, optimizer, *batch())
    if rank == 1:
        sampler()
        limit_memory(6)
    for step in range(1000):
        loss = train_step(model, optimizer, *batch())
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:
        os.environ["JOB_LAUNCHER"] = str(os.getpid())
    by_hand(3, body)
