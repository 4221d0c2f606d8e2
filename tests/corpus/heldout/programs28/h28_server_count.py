"""A server of parameters waits for the gradients of all workers before it answers. From step 110 on a configuration that
is read anew ("scale up tonight") tells it of three workers; there are two.

slow: the server writes a checkpoint to a slow store for 68 s."""
import sys
import threading
import time

from kit28 import SLOW, STALL, STEPS, compute, dial, free_port, listen, main, part, receive, send, tell


class Server:
    def __init__(self):
        self.have, self.step, self.want, self.cond = [], 0, 2, threading.Condition()

    def push(self, gradient):
        with self.cond:
            mine = self.step
            self.have.append(gradient)
            if mine == STALL and not SLOW:
                self.want = 3
            if len(self.have) >= self.want:
                self.mean = sum(self.have) / len(self.have)
                if mine == STALL:
                    self.checkpoint()
                self.have, self.step = [], mine + 1
                self.cond.notify_all()
            while self.step == mine:
                self.cond.wait()
            return self.mean

    def checkpoint(self):
        with open("server.ckpt", "wb") as f:
            for _ in range(68):
                f.write(b"0" * 4096)
                f.flush()
                time.sleep(1)


def serve(port):
    server, door = Server(), listen(port)

    def client(end):
        try:
            while True:
                send(end, server.push(receive(end)))
        except (EOFError, OSError):
            pass
    while True:
        threading.Thread(target=client, args=(door.accept()[0],), daemon=True).start()


def body(rank, world, port):
    if rank == 0:
        part("server", port)
    server = dial(port)
    for step in range(STEPS):
        compute()
        send(server, 1.0 / (step + 1 + rank))
        receive(server)
        if rank == 0:
            tell(step, "epoch")


if "server" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
