"""A loader of rank 1 is killed from outside."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    def load():
        time.sleep(60)
    pid = fork("loader", load)
    os.waitpid(pid, 0)
    raise RuntimeError(f"DataLoader worker (pid {pid}) is killed by signal: Killed. ")
star.train(30, 3000)
