"""A server of parameters locks the checkpoint's file and asks the logger for what it has; the logger is waiting for
that lock, to add its own."""
import fcntl
import time

from kit12 import ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote
    class Logger:
        def __init__(self):
            role("logger")
            self.lines = []

        def note(self, line):
            self.lines.append(line)

        def append(self, delay):
            time.sleep(delay)
            with open("run.ckpt", "a") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                f.write("\n".join(self.lines))

        def flush(self):
            return len(self.lines)

    @ray.remote
    class Server:
        def __init__(self, logger):
            role("server")
            self.logger = logger

        def checkpoint(self, step):
            with open("run.ckpt", "a") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                time.sleep(0.6)
                f.write(f"{step} {ray.get(self.logger.flush.remote())}\n")

    logger = Logger.remote()
    server = Server.remote(logger)
    for step in range(1, 61):
        time.sleep(0.15)
        logger.note.remote(f"step {step}")
        if step % 20 == 0:
            print("checkpoint at", step, flush=True)
            if step == 40:
                logger.append.remote(0.3)
            ray.get(server.checkpoint.remote(step))


if __name__ == "__main__":
    main()
