"""Ray programs whose tasks, actors or groups want places; some never get one.

ray_places.py actors|nested|group|behind|asleep|later

actors   two actors have both processors for ever, and a task wants one
nested   two tasks have both slots, and wait for tasks of their own that want one each
group    a placement group wants more processors than there are
behind   healthy: tasks wait behind long ones, which compute, and end
asleep   healthy: the same, and the long ones sleep
later    healthy: a placement group waits until a task gives its processors back
"""
import argparse
import sys
import time

import ray
from ray.util.placement_group import placement_group, remove_placement_group

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=("actors", "nested", "group", "behind", "asleep", "later"))
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
{"actors": actors, "nested": nested, "group": group, "behind": behind, "asleep": asleep, "later": later}[args.what]()
say("done")
