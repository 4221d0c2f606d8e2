"""Four workers sum in a ring of datagrams. Worker 3 is released (a spot machine) and tells the others by a file that they
are three from step 100 on; worker 2 has its right neighbour's address from the start and sends to it as before."""
import os
import pickle
import socket

from kit25 import STALL, STEPS, Log, Model, main


class Datagrams:
    def __init__(self, rank):
        self.rank, self.early = rank, {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        with open("udp-%d.new" % rank, "w") as f:
            f.write("%d" % self.socket.getsockname()[1])
        os.rename("udp-%d.new" % rank, "udp-%d" % rank)

    def address(self, rank):
        while not os.path.exists("udp-%d" % rank):
            pass
        with open("udp-%d" % rank) as f:
            return "127.0.0.1", int(f.read())

    def take(self, name):
        while name not in self.early:
            what, x = pickle.loads(self.socket.recv(4096))
            self.early[what] = x
        return self.early.pop(name)

    def all_reduce(self, step, x, world, right):
        total = part = x
        for hop in range(world - 1):
            self.socket.sendto(pickle.dumps(((step, hop), part)), right)
            part = self.take((step, hop))
            total += part
        return total


def body(rank, world, port):
    net, model, log = Datagrams(rank), Model(rank), Log("logger")
    right = net.address((rank + 1) % world)
    for step in range(STEPS):
        if step == STALL:
            if rank == 3:
                print("worker 3: released", flush=True)
                return
            world = 3
        model.step(net.all_reduce(step, model.backward(), world, right) / world)
        if rank == 0:
            log(step, model.loss)


main(4, body)
