"""Rank 1 waits for a download tool that asks a question on its terminal."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import pty
import time

CODE = "import time; time.sleep(1); input('The authenticity of the host cannot be established. Continue (yes/no)? ')"


def fetch():
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", CODE])
    kit.role("fetch1", pid)
    os.waitpid(pid, 0)


def run():
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.5)
        if kit.RANK == 1 and i == 12:
            fetch()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "plain")


kit.main(3, run)
