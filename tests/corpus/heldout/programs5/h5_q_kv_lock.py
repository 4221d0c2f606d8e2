"""Rank 0 has the lease of a lock service and repairs an index for 66 s, printing nothing; rank 1 waits for the lease."""
import sys
import threading

import kit5


def attend(link, lock):
    while True:
        try:
            word = kit5.receive(link)
        except EOFError:
            return
        lock.acquire() if word == "lock" else lock.release()
        kit5.send(link, "ok")


def serve(port):
    door, lock = kit5.listen(port), threading.Lock()
    while True:
        threading.Thread(target=attend, args=(door.accept()[0], lock), daemon=True).start()


def train(rank, world, port):
    link = kit5.dial(int(kit5.os.environ["LOCKS"]))
    for n in range(6):
        kit5.send(link, "lock")
        kit5.receive(link)
        kit5.compute(66 if n == 3 and rank == 0 else 0.2)
        kit5.send(link, "unlock")
        kit5.receive(link)
        print("rank", rank, "repaired", n, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["LOCKS"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["LOCKS"]], "server")
kit5.ranks(2, train)
