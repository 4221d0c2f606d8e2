"""Ray programs whose tasks, actors or groups want places, and whose actors wait for calls; some never end.

ray_places.py actors|nested|group|behind|asleep|later|circle|own|spare

actors   two actors have both processors for ever, and a task wants one
nested   two tasks have both slots, and wait for tasks of their own that want one each
group    a placement group wants more processors than there are
behind   healthy: tasks wait behind long ones, which compute, and end
asleep   healthy: the same, and the long ones sleep
later    healthy: a placement group waits until a task gives its processors back
circle   two actors, one with an event loop, wait for tasks, which wait in ray.wait() for calls of the other actor
own      an actor has two threads for calls, and both wait for calls of its own
spare    healthy: the same with three threads, and the calls take long
"""
import argparse
import sys
import time

import ray
from ray.util.placement_group import placement_group, remove_placement_group

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=("actors", "nested", "group", "behind", "asleep", "later", "circle", "own", "spare"))
parser.add_argument("--seconds", type=float, default=75, help="how long the healthy ones wait")
args = parser.parse_args()


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@ray.remote
def compute(seconds):
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        n += 1
    return n


@ray.remote
def rest(seconds):
    time.sleep(seconds)
    return 1


@ray.remote
class Rollout:
    def sample(self, n):
        time.sleep(0.3)
        return list(range(n))


@ray.remote(num_cpus=0, resources={"slot": 1})
def validate(weights):
    return sum(weights)


@ray.remote(num_cpus=0, resources={"slot": 1})
def fold(nested):
    time.sleep(2)
    return ray.get(validate.remote([1, 2])) if nested else 0


@ray.remote(num_cpus=0)
def relay(peer):
    ready, _ = ray.wait([peer.ask.remote(0)])
    return ray.get(ready[0])


@ray.remote(num_cpus=0)
class Stage:
    def link(self, peer):
        self.peer = peer

    def value(self, seconds):
        time.sleep(seconds)
        return 1

    def ask(self, seconds):
        return ray.get(self.peer.value.remote(seconds))

    def ask_back(self):
        time.sleep(1)
        return ray.get(relay.remote(self.peer))


@ray.remote(num_cpus=0)
class Loops:
    """Its methods run in an event loop, which ray.get() blocks."""

    def link(self, peer):
        self.peer = peer

    async def ask(self, seconds):
        return ray.get(self.peer.value.remote(seconds))

    async def ask_back(self):
        time.sleep(1)
        return ray.get(relay.remote(self.peer))


def stages(*classes, threads=None):
    made = [c.options(max_concurrency=threads, name=f"stage {i}").remote() for i, c in enumerate(classes)]
    ray.get([s.link.remote(made[i - 1]) for i, s in enumerate(made)])
    return made


def circle():
    ray.get([s.ask_back.remote() for s in stages(Stage, Loops)])


def own():
    (stage,) = stages(Stage, threads=2)
    ray.get([stage.ask.remote(0), stage.ask.remote(0)])


def spare():
    (stage,) = stages(Stage, threads=3)
    say(f"all {sum(ray.get([stage.ask.remote(args.seconds / 2), stage.ask.remote(args.seconds / 2)]))}")


def actors():
    rollouts = [Rollout.options(num_cpus=1).remote() for _ in range(2)]
    for step in range(10):
        ray.get([r.sample.remote(10) for r in rollouts])
        say(f"step {step}")
    ray.get(compute.remote(0.1))


def nested():
    say(f"alone {ray.get([fold.remote(False) for _ in range(2)])}")
    ray.get([fold.remote(True) for _ in range(2)])


def group():
    say(f"before {ray.get(compute.remote(1)) > 0}")
    ray.get(placement_group([{"CPU": 1}] * 4).ready())


def behind():
    say(f"all {len(ray.get([compute.remote(args.seconds / 2) for _ in range(4)]))}")


def asleep():
    say(f"all {len(ray.get([rest.remote(args.seconds / 2) for _ in range(4)]))}")


def later():
    long = compute.options(num_cpus=2).remote(args.seconds)
    time.sleep(2)
    places = placement_group([{"CPU": 1}] * 2)
    ray.get(places.ready())
    remove_placement_group(places)
    say(f"ready {ray.get(long) > 0}")


ray.init(num_cpus=2, resources={"slot": 2}, object_store_memory=80 << 20, include_dashboard=False,
         _node_ip_address="127.0.0.2", log_to_driver=False)
{"actors": actors, "nested": nested, "group": group, "behind": behind, "asleep": asleep, "later": later,
 "circle": circle, "own": own, "spare": spare}[args.what]()
say("done")
