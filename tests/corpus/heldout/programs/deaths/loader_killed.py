"""A loader worker is killed from outside; the main process says so as PyTorch does."""
from job import *

def load():
    time.sleep(60)
pid = fork("loader", load)
train(0, 5)
_, st = os.waitpid(pid, 0)
raise RuntimeError(f"DataLoader worker (pid {pid}) is killed by signal: Killed. ")
