"""An actor of Ray leaves in the middle of a call, by its own code."""
import os

from kitd26 import own_ray, role, say

role("main")
ray = own_ray()


@ray.remote
class Learner:
    def step(self, k):
        if k == 25:
            print("license server says no, leaving", flush=True)
            os._exit(9)
        return 1 / (k + 1)


learner = Learner.remote()
for k in range(60):
    say("step %d loss %.4f" % (k, ray.get(learner.step.remote(k))))
