"""A worker looks for the server of parameters by its name and tries again when there is none. The last one looks
for `params-v3`, which nobody has started."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote
    class Params:
        def __init__(self):
            role("params")
            self.value = 0.0

        def add(self, x):
            self.value += x
            return self.value

    @ray.remote
    def train(k, server, steps):
        role(f"trainer{k}")
        while True:
            try:
                handle = ray.get_actor(server)
                break
            except ValueError:
                time.sleep(1)
        for step in range(steps):
            time.sleep(0.1)
            value = ray.get(handle.add.remote(0.1))
        return value

    keep = [Params.options(name=name, num_cpus=0).remote() for name in ("params", "params-v2")]
    print("warm", ray.get([train.remote(k, "params", 20) for k in range(2)]), flush=True)
    for k, server in enumerate(["params-v2", "params-v3"]):
        print("trained", k, ray.get(train.remote(k, server, 20)), len(keep), flush=True)


if __name__ == "__main__":
    main()
