"""A lock service with a thread for each client. Ranks 0 and 1 lock two tables in opposite order; rank 2 waits for rank 0."""
import sys
import threading

import kit5


def attend(link, locks):
    while True:
        what, name = kit5.receive(link)
        if what == "lock":
            locks[name].acquire()
        else:
            locks[name].release()
        kit5.send(link, "ok")


def serve(port):
    door, locks = kit5.listen(port), {"users": threading.Lock(), "items": threading.Lock()}
    while True:
        threading.Thread(target=attend, args=(door.accept()[0], locks), daemon=True).start()


def call(link, *words):
    kit5.send(link, words)
    kit5.receive(link)


def train(rank, world, port):
    link, mesh = kit5.dial(int(kit5.os.environ["LOCKS"])), kit5.Mesh(rank, world)
    for step in range(1000):
        names = ["users", "items"] if rank == 0 or step < 9 else ["items", "users"]
        if rank < 2:
            for name in names:
                call(link, "lock", name)
                kit5.crunch(0.05 if step < 9 else 0.5)
            for name in names:
                call(link, "unlock", name)
        mesh.reduce(1)
        if rank == 2:
            print("step", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["LOCKS"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["LOCKS"]], "server")
kit5.ranks(3, train)
