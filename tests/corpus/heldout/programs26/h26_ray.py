"""A driver with a Ray of its own. The argument says what is odd.

cpus: actors keep all processors, and a task for the evaluation is waited for (slow: the actors end after a while).
self: an actor waits for an answer of its own.
mutual: two actors ask each other (slow: the other computes, and asks nobody).
queue: a producer has swallowed an error, its consumer waits at ray.util.queue's queue (slow: it downloads).
place: a placement group wants more than there is (slow: another one has it for a while).
event: an asynchronous actor sets an event before another call makes the one that it waits for.
left: actors in a ring of gloo, of which one returns early (slow: one evaluates).
work: a task computes (healthy)."""
import asyncio
import os
import socket
import sys
import time

from kit26 import SLOW, STALL, crunch, own_ray, role, say, warm

CASE = sys.argv[1]
role("main")
ray = own_ray()
ENV = {"env_vars": {"CORPUS_ROLES": os.environ.get("CORPUS_ROLES", "")}}


def noted(cls, **how):
    return ray.remote(runtime_env=ENV, **{"num_cpus": 0, **how})(cls)


class Learner:
    def __init__(self, name, seconds=0.0):
        role(name)
        self.at, self.until = 4.0, time.monotonic() + seconds

    def step(self, k):
        crunch(0.05)
        self.at -= 0.02 * (self.at - 1)
        return self.at

    def meet(self, other):
        self.other = other

    def busy(self):
        while time.monotonic() < self.until:
            crunch(0.5)

    def score(self, again=True):
        if again:
            return ray.get(self.other.score.remote(not SLOW))
        crunch(66)
        return self.at


def steps(actor, n=STALL):
    warm(lambda k: ray.get(actor.step.remote(k)), n)


def cpus():
    learners = [noted(Learner, num_cpus=1).remote("learner%d" % k, 85 if SLOW else 0) for k in range(2)]
    steps(learners[0])

    @ray.remote(num_cpus=1)
    def evaluate():
        return 0.75
    score = evaluate.remote()
    if SLOW:
        left = [x.busy.remote() for x in learners]
        del learners
        say("evaluation is queued")
    say("score", ray.get(score))


def self_():
    learner = noted(Learner).remote("learner0")
    steps(learner)
    ray.get(learner.meet.remote(learner))
    say("score", ray.get(learner.score.remote()))


def mutual():
    a, b = noted(Learner).remote("learner0"), noted(Learner).remote("learner1")
    steps(a)
    ray.get([a.meet.remote(b), b.meet.remote(a)])
    say("score", ray.get(a.score.remote()))
    steps(a, 20)


def queue():
    from ray.util.queue import Queue
    shards, learner = Queue(4), noted(Learner).remote("learner0")

    @ray.remote(runtime_env=ENV)
    def produce(n):
        role("producer")
        for k in range(n):
            if k == STALL and SLOW:
                time.sleep(67)
            try:
                if k == STALL and not SLOW:
                    raise OSError("shard %d: access denied" % k)
                shards.put(k)
            except OSError as error:
                print("producer:", error, flush=True)
                return k
        return n
    made = produce.remote(STALL + 20)
    steps_of = lambda k: ray.get(learner.step.remote(shards.get()))  # noqa: E731
    warm(steps_of, STALL + 20)
    say("made", ray.get(made))


def place():
    from ray.util.placement_group import placement_group, remove_placement_group
    first = placement_group([{"CPU": 1}] * 2) if SLOW else None
    learner = noted(Learner).remote("learner0", 95)
    steps(learner)
    if SLOW:
        trial = noted(Learner).remote("trial")
        busy = learner.busy.remote()
        say("trial 2 waits for the processors of trial 1")
        second = placement_group([{"CPU": 1}] * 2)
        ray.wait([busy])
        remove_placement_group(first)
        ray.get([second.ready(), trial.step.remote(0)])
    else:
        ray.get(placement_group([{"CPU": 1}] * 4).ready())
    steps(learner, 20)


class Gate:
    def __init__(self):
        role("gate")
        self.opened = asyncio.Event()

    async def open(self, version):
        self.opened.set()

    async def wait(self, version):
        self.opened = asyncio.Event()
        await self.opened.wait()
        return version


def event():
    learner, gate = noted(Learner).remote("learner0"), noted(Gate).remote()
    steps(learner)
    ray.get(gate.open.remote(1))
    say("weights", ray.get(gate.wait.remote(1)))


class Member:
    def __init__(self, rank, world, port):
        role("member%d" % rank)
        import torch.distributed as dist
        from datetime import timedelta
        self.rank, self.dist = rank, dist
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:%d" % port, rank=rank, world_size=world,
                                timeout=timedelta(hours=2))

    def train(self, n):
        import torch
        x = torch.ones(100)
        for step in range(n):
            if self.rank == 1 and step == STALL:
                if not SLOW:
                    print("member 1: no more batches", flush=True)
                    return step
                crunch(66)
            time.sleep(0.15)
            self.dist.all_reduce(x)
            x /= 2
            if self.rank == 0 and step % 5 == 0:
                print("step %d norm %.3f" % (step, x.norm()), flush=True)
        return n


def left():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    members = [noted(Member).remote(r, 2, port) for r in range(2)]
    say("steps", ray.get([m.train.remote(STALL + 20) for m in members]))


def work():
    @ray.remote(runtime_env=ENV)
    def tokenize(k, seconds):
        crunch(seconds)
        return k
    warm(lambda k: ray.get(tokenize.remote(k, 0.1)))
    say("tokenizing the long documents")
    say("tokens", sum(ray.get([tokenize.remote(k, 40) for k in range(3)])))
    warm(lambda k: ray.get(tokenize.remote(k, 0.1)), 20)


{"cpus": cpus, "self": self_, "mutual": mutual, "queue": queue, "place": place, "event": event, "left": left, "work": work}[CASE]()
ray.shutdown()
