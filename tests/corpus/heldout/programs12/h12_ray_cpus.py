"""Both processors belong to two actors for as long as they live. The driver starts a task that wants one as well, and
waits for it."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote(num_cpus=1)
    class Rollout:
        def __init__(self, k):
            role(f"rollout{k}")

        def sample(self, n):
            time.sleep(0.3)
            return [i * 0.5 for i in range(n)]

    @ray.remote
    def summarize(rows):
        return sum(map(sum, rows)) / len(rows)

    actors = [Rollout.remote(k) for k in range(2)]
    for i in range(10):
        rows = ray.get([a.sample.remote(100) for a in actors])
        print(f"iteration {i}: {sum(map(len, rows))} samples", flush=True)
    print("summary", ray.get(summarize.remote(rows)), flush=True)


if __name__ == "__main__":
    main()
