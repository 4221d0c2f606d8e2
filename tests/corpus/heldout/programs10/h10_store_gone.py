"""The store of keys is a thread of rank 0. Rank 0 is done first and ends, with it the store; the others want to tell the store that they
are done, too, and try to reach it again and again."""
import socket
import threading
import time

import kit10


def store(port):
    door, keys = kit10.listen(port), {}

    def serve(link):
        try:
            while True:
                key, value = kit10.receive(link)
                if value is not None:
                    keys[key] = value
                kit10.send(link, keys.get(key))
        except EOFError:
            pass
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()


def ask(port, key, value=None):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as s:
                kit10.send(s, (key, value))
                return kit10.receive(s)
        except (OSError, EOFError):
            time.sleep(0.5)


def body(rank, n, port):
    if rank == 0:
        threading.Thread(target=store, args=(port,), daemon=True).start()
    hub = kit10.Hub(rank, n, port + 1)
    for s in range(12):
        kit10.crunch(0.1)
        hub.reduce(1)
        kit10.log(rank, s, lr=1e-4)
    if rank:
        kit10.crunch(1.5)
    ask(port, "done/%d" % rank, 1)
    print("rank %d: bye" % rank, flush=True)


kit10.main(3, body)
