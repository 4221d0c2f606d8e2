"""A parameter server with bounded staleness: who is two steps ahead of the slowest waits. Worker 3 leaves with 0 at an unreadable record."""
import sys
import threading

import kit5


class Server:
    def __init__(self, world):
        self.clock, self.moved, self.weights = [0] * world, threading.Condition(), 0.0

    def attend(self, link):
        worker = kit5.receive(link)
        while True:
            try:
                grad = kit5.receive(link)
            except EOFError:
                return
            with self.moved:
                self.weights += grad
                self.clock[worker] += 1
                self.moved.notify_all()
                self.moved.wait_for(lambda: self.clock[worker] - min(self.clock) <= 2)
            kit5.send(link, self.weights)


def serve(port, world):
    server, door = Server(world), kit5.listen(port)
    while True:
        link, _ = door.accept()
        threading.Thread(target=server.attend, args=(link,), daemon=True).start()


def train(rank, world, port):
    link = kit5.dial(int(kit5.os.environ["PS_PORT"]))
    kit5.send(link, rank)
    for step in range(1000):
        kit5.crunch(0.25)
        if rank == 3 and step == 12:
            with open("worker3.log", "w") as log:
                log.write("bad magic number in record 12, skipping the rest\n")
            return
        kit5.send(link, 0.1)
        w = kit5.receive(link)
        if rank == 0:
            print("step", step, "w", round(w, 2), flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]), int(sys.argv[3]))
if not {"RANK"} & set(kit5.os.environ):
    kit5.os.environ["PS_PORT"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["PS_PORT"], "5"], "server")
kit5.ranks(5, train)
