"""A parameter server with a thread for each worker. One thread fails; what it says goes to a file, and the socket stays open in a list."""
import sys
import threading

import kit5

LINKS = []


def attend(link, sums):
    worker = kit5.receive(link)
    try:
        while True:
            name, grad = kit5.receive(link)
            sums[name] += grad
            kit5.send(link, sums[name])
    except KeyError as error:
        with open("server.err", "a") as f:
            f.write("worker %d: %r\n" % (worker, error))


def serve(port):
    door, sums = kit5.listen(port), {"conv1": 0.0, "conv2": 0.0, "fc": 0.0}
    while True:
        link, _ = door.accept()
        LINKS.append(link)
        threading.Thread(target=attend, args=(link, sums)).start()


def train(rank, world, port):
    link = kit5.dial(int(kit5.os.environ["PS_PORT"]))
    kit5.send(link, rank)
    mesh = kit5.Mesh(rank, world)
    for step in range(1000):
        kit5.crunch(0.2)
        for name in ("conv1", "conv2", "fc" if step < 11 or rank != 1 else "fc.bias"):
            kit5.send(link, (name, 0.01))
            kit5.receive(link)
        if step % 4 == 0:
            mesh.reduce(1)
        if rank == 0:
            print("epoch 0 step %d" % step, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["PS_PORT"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["PS_PORT"]], "server")
kit5.ranks(3, train)
