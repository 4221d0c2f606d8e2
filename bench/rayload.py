"""The load of ray.py: a Ray node of its own. Each number on stdin is that many tasks to run; the seconds are printed."""
import sys
import time

import ray


@ray.remote
def work():
    total = 0
    for i in range(200_000):
        total += i
    return total


@ray.remote(num_cpus=0)
class Keeper:
    def hold(self):
        return True


ray.init(num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, _node_ip_address="127.0.0.2")
keepers = [Keeper.remote() for _ in range(4)]
ray.get([k.hold.remote() for k in keepers] + [work.remote() for _ in range(20)])
print("up", flush=True)
for line in sys.stdin:
    begun = time.monotonic()
    ray.get([work.remote() for _ in range(int(line))])
    print(time.monotonic() - begun, flush=True)
