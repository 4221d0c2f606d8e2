"""An actor asks itself, by its own handle, for a number, and waits for the answer before it is free to give it."""
import time

from kit12 import ray_here, role


def main():
    ray = ray_here()

    @ray.remote
    class Server:
        def __init__(self):
            role("server")
            self.steps = 0

        def know(self, me):
            self.me = me

        def version(self):
            return self.steps

        def push(self, gradient):
            time.sleep(0.2)
            self.steps += 1
            if self.steps % 12 == 0:
                return ray.get(self.me.version.remote())
            return self.steps

    server = Server.remote()
    ray.get(server.know.remote(server))
    for step in range(40):
        print("step", step, "version", ray.get(server.push.remote(step * 0.1)), flush=True)


if __name__ == "__main__":
    main()
