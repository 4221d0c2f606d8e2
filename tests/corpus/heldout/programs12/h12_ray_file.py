"""Four tasks write parts, one joins them when there is a file _SUCCESS beside each. Part 2 was written by a task that
does not make one, the join looks for it for ever."""
import os
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)
    folder = os.path.join(os.getcwd(), "parts")

    @ray.remote
    def part(k):
        os.makedirs(f"{folder}/{k}", exist_ok=True)
        time.sleep(1)
        with open(f"{folder}/{k}/rows", "w") as f:
            f.write("row\n" * 1000)
        if k != 2:
            open(f"{folder}/{k}/_SUCCESS", "w").close()
        return k

    @ray.remote
    def join_parts(n):
        role("joiner")
        rows = 0
        for k in range(n):
            while not os.path.exists(f"{folder}/{k}/_SUCCESS"):
                time.sleep(1)
            rows += len(open(f"{folder}/{k}/rows").readlines())
        return rows

    for done in [part.remote(k) for k in range(4)]:
        print("part", ray.get(done), flush=True)
    print("rows", ray.get(join_parts.remote(4)), flush=True)


if __name__ == "__main__":
    main()
