"""A server of parameters as an actor with two threads. A worker that is ahead waits in there for the next version. Once
the trainer takes 6 s, and both workers are ahead: their calls have the two threads, and the trainer's call, which would
make the version, is not begun. "slow": it has three threads, and the trainer takes 45 s."""
import sys
import threading
import time

from kit13 import ray_here, role


def main():
    ray, slow = ray_here(cpus=2), "slow" in sys.argv

    @ray.remote(num_cpus=0, max_concurrency=3 if slow else 2)
    class Parameters:
        def __init__(self):
            role("server")
            self.version, self.changed = 0, threading.Condition()

        def push(self):
            with self.changed:
                self.version += 1
                self.changed.notify_all()
            return self.version

        def pull(self, version):
            with self.changed:
                self.changed.wait_for(lambda: self.version >= version)
            return self.version

    @ray.remote(num_cpus=1)
    def worker(k, server, versions):
        role("worker%d" % k)
        for version in range(1, versions + 1):
            time.sleep(0.5 if k else 0.1)
            ray.get(server.pull.remote(version))
        return k

    server = Parameters.remote()
    workers = [worker.remote(k, server, 20) for k in range(2)]
    time.sleep(2)
    for version in range(20):
        time.sleep((45 if slow else 6) if version == 12 else 0.4)
        print("version", ray.get(server.push.remote()), flush=True)
    print("workers", ray.get(workers), "done", flush=True)


if __name__ == "__main__":
    main()
