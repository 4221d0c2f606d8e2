"""A notice of preemption comes as SIGUSR1, on which a handler saves. On rank 1 it comes while the main program saves, under the same lock."""
import os
import signal
import threading
import time

import kit10

saving = threading.Lock()


def save(why, notice=False):
    with saving:
        with open("state-%s" % os.environ["RANK"], "w") as f:
            f.write(why)
        if notice:
            os.kill(os.getpid(), signal.SIGUSR1)  # as the scheduler's: it may come at any time
        time.sleep(0.1)


def body(rank, n, port):
    signal.signal(signal.SIGUSR1, lambda *a: save("preemption"))
    hub = kit10.Hub(rank, n, port)
    for s in range(30):
        kit10.crunch(0.1)
        hub.reduce(1)
        kit10.log(rank, s, mfu="41%")
        if s % 5 == 4:
            save("step", notice=(rank, s) == (1, 14))


kit10.main(3, body)
