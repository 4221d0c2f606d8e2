"""Ray: an actor trains, and at an epoch's end calls evaluate() of its own handle and waits for it with ray.get(): an actor does one thing at
a time.

slow: it calls its method itself, which takes 67 s."""
import os
import sys

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_DEDUP_LOGS="0")
import ray  # noqa: E402

from kit29 import SLOW, STALL, STEPS, Model, busy, role  # noqa: E402


@ray.remote(num_cpus=1)
class Trainer:
    def __init__(self):
        role("actor")
        self.model, self.own = Model(), None

    def know(self, own):
        self.own = own

    def evaluate(self, step):
        if SLOW and step == STALL:
            busy(67)
        return self.model.loss()

    def train(self, begin, steps):
        for step in range(begin, begin + steps):
            self.model.update(self.model.gradient())
        if begin + steps < STALL or SLOW:
            return self.evaluate(begin + steps)
        return ray.get(self.own.evaluate.remote(begin + steps))


def main():
    role("main")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="warning", log_to_driver=False,
             object_store_memory=100 << 20, _temp_dir="/tmp/r29-%d" % os.getpid(),
             runtime_env={"env_vars": {"PYTHONPATH": ":".join(p for p in sys.path if "/programs" in p)}})
    trainer = Trainer.remote()
    ray.get(trainer.know.remote(trainer))
    for step in range(0, STEPS, 4):
        loss = ray.get(trainer.train.remote(step, 4))
        print("step %d: loss %.4f" % (step + 4, loss), flush=True)
    ray.shutdown()


sys.exit(main())
