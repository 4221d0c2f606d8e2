"""posix_spawn with the output of the child into a FIFO: the child opens it before it runs anything, the call waits for the child, and main
opens the other end after the call."""
import os
import sys

import kit9

SCORER = "for k in range(5): print('score', k)"


def score(k):
    path = "scores-%d.fifo" % k
    os.mkfifo(path)
    early = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if k < 6 else None
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", SCORER], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, path, os.O_WRONLY, 0o644)])
    if early is not None:
        os.waitpid(pid, 0)
        return os.read(early, 4096)
    with open(path) as f:
        return f.read()


kit9.role("main")
for k in range(20):
    kit9.crunch(0.3)
    print("evaluated", k, len(score(k)), flush=True)
