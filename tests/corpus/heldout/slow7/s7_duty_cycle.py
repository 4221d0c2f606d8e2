"""Four ranks by recursive doubling. A process of another user's batch system stops rank 2 for 0.6 s of each second, to save power."""
import os
import signal
import sys
import time

import kit7


def throttle():
    kit7.role("throttle")
    while not kit7.slow():
        kit7.disk(0.2)
    pid = int([ln.split()[1] for ln in open(sys.argv[2]) if ln.startswith("rank2 ")][-1])
    while os.path.exists("/proc/%d" % pid):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.6)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.4)


def train(rank, world, port):
    def before(step):
        kit7.disk(0.2)
        kit7.work(0.18)
    kit7.loop(rank, kit7.Butterfly(rank, world, port), before, lambda s: "step %05d | loss %.4f | %.1f tok/s" % (s, 3 / (1 + s / 40), 4096))


if sys.argv[1:2] == ["throttle"]:
    try:
        throttle()
    except ProcessLookupError:
        pass
    sys.exit()
if "RANK" not in os.environ:
    kit7.start([sys.executable, __file__, "throttle", os.environ.get("CORPUS_ROLES", "roles")], "throttle")
kit7.by_launcher(4, train)
