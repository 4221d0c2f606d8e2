"""An actor and a task of Ray that work until they are told to end: look_ray.py FOLDER."""
import os
import pathlib
import sys
import time

import ray

folder = pathlib.Path(sys.argv[1])


def gradient_of(n):
    total = 0
    while not (folder / "end").exists():
        for i in range(200_000):
            total += i * n
    return total


@ray.remote(num_cpus=1)
class Learner:
    def learn(self):
        (folder / "actor").write_text(str(os.getpid()))
        return gradient_of(3)


@ray.remote(num_cpus=1)
def preprocess():
    (folder / "task").write_text(str(os.getpid()))
    while not (folder / "end").exists():
        time.sleep(0.05)


ray.init(num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, _node_ip_address="127.0.0.2")
ray.get([Learner.remote().learn.remote(), preprocess.remote()])
print("done", flush=True)
