"""Tasks and actors of Ray under several names, until they are told to end: ray_names.py FOLDER."""
import os
import pathlib
import sys
import time

import ray

folder = pathlib.Path(sys.argv[1])


def arrived(name):
    (folder / f"{name}-{os.getpid()}").touch()


def wait():
    while not (folder / "end").exists():
        time.sleep(0.05)


@ray.remote(num_cpus=0)
class Learner:
    def learn(self):
        arrived("learn")
        wait()


@ray.remote(num_cpus=0)
class Quiet:
    def hello(self):
        arrived("quiet")


@ray.remote(num_cpus=0)
class Asker:
    async def ask(self, references):
        arrived("ask")
        await references[0]


@ray.remote(num_cpus=0)
def preprocess():
    arrived("preprocess")
    wait()


ray.init(num_cpus=1, object_store_memory=80 << 20, include_dashboard=False, _node_ip_address="127.0.0.2")
actor, quiet = Learner.options(name="critic", lifetime="detached").remote(), Quiet.remote()
# Twice what the store holds, so that half of it is spilled to disk.
kept = [ray.put(b"x" * (20 << 20)) for _ in range(8)]
work = [actor.learn.remote(), preprocess.remote(), preprocess.remote(), preprocess.options(name="sort pages").remote()]
asked = Asker.remote().ask.remote([work[0]])
ray.get(quiet.hello.remote())
ray.get(work)
print("done", flush=True)
