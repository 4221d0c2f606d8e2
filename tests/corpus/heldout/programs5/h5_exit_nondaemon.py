"""Training has ended, all ranks say so; rank 1 still waits for its thread that listens to a service for commands, which has none."""
import sys
import threading

import kit5


def commands(link):
    while line := link.recv(100):
        print("command", line, flush=True)


def serve(port):
    door, links = kit5.listen(port), []
    while True:
        links.append(door.accept()[0])


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    link = kit5.dial(int(kit5.os.environ["CONTROL"]))
    threading.Thread(target=commands, args=(link,), daemon=rank != 1).start()
    for step in range(12):
        kit5.crunch(0.2)
        mesh.reduce(1)
    print("rank %d: training is complete" % rank, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["CONTROL"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["CONTROL"]], "control")
kit5.ranks(3, train)
