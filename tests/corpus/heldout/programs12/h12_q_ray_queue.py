"""A consumer takes rows out of a queue of Ray. Its producer looks for new files every 50 s and finds some each
time."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)
    from ray.util.queue import Queue

    @ray.remote
    def produce(queue):
        role("producer")
        for scan in range(3):
            for i in range(6):
                queue.put((scan, i))
                time.sleep(0.2)
            if scan < 2:
                time.sleep(50)
        queue.put(None)

    @ray.remote
    def consume(queue):
        role("consumer")
        rows = 0
        while (row := queue.get()) is not None:
            rows += 1
            print("row", row, flush=True)
        return rows

    queue = Queue(actor_options={"num_cpus": 0})
    producer = produce.remote(queue)
    print("rows", ray.get(consume.remote(queue)), ray.get(producer), flush=True)


if __name__ == "__main__":
    main()
