"""A Ray task simulates for 50 s, with pauses, the driver is in get and an actor waits for the result."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote
    def simulate(seconds):
        role("simulation")
        end, x = time.monotonic() + seconds, 0.5
        while time.monotonic() < end:
            for _ in range(2000):
                x = 3.9 * x * (1 - x)
            time.sleep(0.01)
        return x

    @ray.remote
    class Collector:
        def __init__(self):
            role("collector")
            self.got = []

        def add(self, x):
            self.got.append(x)
            return len(self.got)

    collector = Collector.remote()
    for k, seconds in enumerate([2, 2, 50, 2, 2]):
        print("simulation", k, ray.get(collector.add.remote(simulate.remote(seconds))), flush=True)


if __name__ == "__main__":
    main()
