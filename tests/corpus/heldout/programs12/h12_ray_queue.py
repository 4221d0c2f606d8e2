"""A reader puts rows into a queue for eight, and the driver waits for the reader's end before it starts to take them.
It went well while there were six."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)
    from ray.util.queue import Queue

    @ray.remote
    class Reader:
        def __init__(self):
            role("reader")

        def read(self, rows, queue):
            for i in range(rows):
                time.sleep(0.2)
                queue.put({"row": i})
            return rows

    reader, queue = Reader.remote(), Queue(maxsize=8, actor_options={"num_cpus": 0})
    for shard, rows in enumerate([6, 6, 6, 11, 6]):
        ray.get(reader.read.remote(rows, queue))
        got = [queue.get() for _ in range(rows)]
        print("shard", shard, "rows", len(got), flush=True)


if __name__ == "__main__":
    main()
