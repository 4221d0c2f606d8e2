"""
What the documents of Ray on speed and memory show, at a smaller size: ray_examples.py WHICH FOLDER [ADDRESS].
WHICH is "speed", "memory", "leak", or "round": then the file FOLDER/example has the name of the example that goes round.
"""
import os
import pathlib
import sys
import time

import ray

which, folder = sys.argv[1], pathlib.Path(sys.argv[2])
PAUSE = 0.2
MIB = 1 << 20


@ray.remote
def nap():
    time.sleep(PAUSE)


class Napper:
    def nap(self):
        time.sleep(PAUSE)


@ray.remote(num_cpus=0)
class Sleeper(Napper):
    pass


@ray.remote(num_cpus=0, max_concurrency=5)
class Wide(Napper):
    """Its calls run at once, in threads."""


def waits_for_each():
    return [ray.get(nap.remote()) for _ in range(5)]


def waits_for_all():
    return ray.get([nap.remote() for _ in range(5)])


def works_meanwhile():
    started = [nap.remote() for _ in range(5)]
    time.sleep(PAUSE)
    return ray.get(started)


def one_sleeper(actor=None):
    actor = actor or Sleeper.remote()
    return ray.get([actor.nap.remote() for _ in range(5)])


def five_sleepers(actors=None):
    return ray.get([actor.nap.remote() for actor in actors or [Sleeper.remote() for _ in range(5)]])


def wide_sleeper(actor):
    return one_sleeper(actor)


def go_round():
    """The example whose name is in the file, again and again; each round says so."""
    actors = {one_sleeper: Sleeper.options(name="sole").remote(), wide_sleeper: Wide.remote(),
              five_sleepers: [Sleeper.remote() for _ in range(5)]}
    while (name := (folder / "example").read_text()) != "end":
        example = globals()[name]
        example(*[actors[example]] if example in actors else [])
        (folder / f"round-{name}").touch()


@ray.remote(max_retries=-1)
def allocate_memory(number):
    (folder / f"try-{number}-{os.getpid()}").touch()
    while len({p.name.split("-")[1] for p in folder.glob("try-*")}) < 15:  # all at once, however slowly they begin
        time.sleep(0.05)
    block, end = [], time.monotonic() + 1.5
    for _ in range(15):
        block.append(bytearray(b"1" * (8 * MIB)))
        time.sleep(0.02)
    time.sleep(max(0, end - time.monotonic()))
    return number, sum(map(len, block))


@ray.remote
class Keeper:
    def __init__(self):
        self.kept = []

    def keep(self, n):
        for _ in range(n):
            self.kept.append(bytearray(b"1" * 1_000_000))
        (folder / "kept").touch()
        while not (folder / "end").exists():
            time.sleep(0.05)


def begin(**settings):
    ray.init(object_store_memory=80 * MIB, include_dashboard=False, _node_ip_address="127.0.0.2", **settings)


if which == "speed":
    begin(num_cpus=2)
    for example in (waits_for_each, waits_for_all, works_meanwhile, one_sleeper, five_sleepers):
        example()
elif which == "memory":
    begin(num_cpus=15)
    done = ray.get([allocate_memory.remote(n) for n in range(15)])
    assert done == [(n, 15 * 8 * MIB) for n in range(15)], done
elif which == "leak":
    begin(num_cpus=1)
    keeper = Keeper.remote()
    ray.get(keeper.keep.remote(100))
elif which == "round":
    if len(sys.argv) > 3:
        ray.init(address=sys.argv[3])
    else:
        begin(num_cpus=2)
    go_round()
print("done", flush=True)
