"""An actor of Ray that somebody kills, and that Ray starts again: ray_killed.py FOLDER ADDRESS."""
import os
import pathlib
import sys
import time

import ray

folder = pathlib.Path(sys.argv[1])


@ray.remote(num_cpus=0, max_restarts=1, max_task_retries=1)
class Leaky:
    def eat(self):
        """Its first life waits to be killed."""
        lives = len(list(folder.glob("life-*")))
        (folder / f"life-{lives}.new").write_text(str(os.getpid()))
        (folder / f"life-{lives}.new").rename(folder / f"life-{lives}")
        while not (folder / "go").exists():
            time.sleep(0.05)
        return os.getpid()


@ray.remote(num_cpus=1)
def short():
    return os.getpid()


ray.init(address=sys.argv[2])
leaky = Leaky.remote()
eaten = leaky.eat.remote()
print("short", ray.get(short.remote()), flush=True)
print("eaten", ray.get(eaten), flush=True)
