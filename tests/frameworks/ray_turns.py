"""A named actor of Ray whose two calls take turns at Python's GIL, until it is told to end: ray_turns.py FOLDER."""
import os
import pathlib
import sys

import ray

folder = pathlib.Path(sys.argv[1])


@ray.remote(num_cpus=0, max_concurrency=2)
class Learner:
    def learn(self, call):
        (folder / f"learn-{call}-{os.getpid()}").touch()
        n = 0
        while n % 100000 or not (folder / "end").exists():
            n += 1


ray.init(num_cpus=1, object_store_memory=80 << 20, include_dashboard=False, _node_ip_address="127.0.0.2")
actor = Learner.options(name="critic").remote()
ray.get([actor.learn.remote(call) for call in range(2)])
print("done", flush=True)
