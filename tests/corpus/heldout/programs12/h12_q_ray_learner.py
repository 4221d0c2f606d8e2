"""A learner takes what the first of two actors to be ready has. Both are in an episode of 52 s at once, after which
all goes on."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote
    class Actor:
        def __init__(self, k):
            role(f"actor{k}")
            self.k, self.episodes = k, 0

        def episode(self):
            self.episodes += 1
            time.sleep(52 if self.episodes == 6 else 1 + 0.2 * self.k)
            return self.k, self.episodes

    actors = [Actor.remote(k) for k in range(2)]
    waiting = {a.episode.remote(): a for a in actors}
    for update in range(18):
        ready, _ = ray.wait(list(waiting), num_returns=1)
        actor = waiting.pop(ready[0])
        print("update", update, "from", ray.get(ready[0]), flush=True)
        waiting[actor.episode.remote()] = actor


if __name__ == "__main__":
    main()
