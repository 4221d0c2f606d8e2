"""Ranks find rank 0's port in a file. The file of yesterday's job is still there when ranks 1 and 2 look; the port in it now belongs to
an exporter, which takes connections and says nothing."""
import os
import sys
import time

import kit9


def export(port):
    door, links = kit9.listen(port), []
    while True:
        links.append(door.accept()[0])


def train(rank, n, port):
    if rank == 0:
        time.sleep(1.5)  # imports and the device
        with open("rendezvous", "w") as f:
            f.write(str(port))
        print("rank 0 listens at port %d for %d others" % (port, n - 1), flush=True)
    else:
        while not os.path.exists("rendezvous"):
            time.sleep(0.1)
        port = int(open("rendezvous").read())
    hub = kit9.Hub(rank, n, port)
    for s in range(40):
        kit9.crunch(0.2)
        hub.reduce(1.0)
        kit9.step(rank, s, 40)


if sys.argv[1:2] == ["export"]:
    export(int(sys.argv[2]))
if "OMPI_COMM_WORLD_RANK" not in os.environ:
    port = kit9.free_port()
    kit9.start([sys.executable, sys.argv[0], "export", str(port)], "exporter")
    with open("rendezvous", "w") as f:
        f.write(str(port))
    kit9.dial(port).close()
kit9.ranks(3, train, "ompi")
