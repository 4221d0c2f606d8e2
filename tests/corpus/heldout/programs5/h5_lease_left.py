"""A lease service answers who asks when the lease is free. Rank 1 is told to stop, leaves with 0 and has given nothing back."""
import sys
import threading

import kit5


def attend(link, lease):
    try:
        while True:
            if kit5.receive(link) == "take":
                lease.acquire()
            else:
                lease.release()
            kit5.send(link, "ok")
    except EOFError:
        pass


def serve(port):
    door, lease = kit5.listen(port), threading.Semaphore(1)
    while True:
        threading.Thread(target=attend, args=(door.accept()[0], lease), daemon=True).start()


def train(rank, world, port):
    link = kit5.dial(int(kit5.os.environ["LEASES"]))
    for step in range(100):
        kit5.send(link, "take")
        kit5.receive(link)
        kit5.crunch(0.15)
        if rank == 1 and step == 8:
            return  # early stopping
        kit5.send(link, "give")
        kit5.receive(link)
        print("rank", rank, "saved", step, flush=True)
        kit5.crunch(0.05)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["LEASES"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["LEASES"]], "server")
kit5.ranks(3, train)
