"""After a search on one processor each, the best trial is to run on a group of four bundles of one; there are two
processors in all. The driver waits for the group to be ready."""
import time

from kit12 import ray_here


def reserve(ray, bundles):
    from ray.util.placement_group import placement_group
    group = placement_group([{"CPU": 1}] * bundles, strategy="PACK")
    ray.get(group.ready())
    return group


def main():
    ray = ray_here(cpus=2)

    @ray.remote
    def trial(lr):
        time.sleep(1.5)
        return -abs(lr - 0.03), lr

    results = ray.get([trial.remote(lr) for lr in (0.1, 0.03, 0.01, 0.001)])
    print("best", max(results), flush=True)
    group = reserve(ray, 4)
    print("reserved", group.bundle_count, flush=True)


if __name__ == "__main__":
    main()
