"""Each fold takes one of two slots and starts a task for its validation, which wants a slot too. Both folds have one
and wait for their subtasks."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=4, resources={"slot": 2})

    @ray.remote(num_cpus=0, resources={"slot": 1})
    def validate(weights):
        return sum(weights)

    @ray.remote(num_cpus=0, resources={"slot": 1})
    def fold(k, nested):
        role(f"fold{k}")
        weights = []
        for step in range(10):
            time.sleep(0.2)
            weights.append(1 / (k + step + 1))
        print(f"fold {k} trained", flush=True)
        return ray.get(validate.remote(weights)) if nested else sum(weights)

    print("without validation", ray.get([fold.remote(k, False) for k in range(2)]), flush=True)
    print("with validation", ray.get([fold.remote(k, True) for k in range(2)]), flush=True)


if __name__ == "__main__":
    main()
