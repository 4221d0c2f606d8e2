"""Ranks try to reach a feature store that another job starts; it is there after a minute."""
import socket
import sys
import time

import kit4

if sys.argv[1:2] == ["store"]:
    time.sleep(62)
    door = kit4.listen(int(sys.argv[2]))
    while True:
        s, _ = door.accept()
        s.sendall(b"v1")
        s.close()


def reach(port):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
                return s.recv(10)
        except OSError:
            time.sleep(2)


def train(rank, world, port):
    print("rank %d waits for the feature store" % rank, flush=True)
    reach(int(kit4.os.environ["STORE"]))
    hub = kit4.Hub(rank, world, port)
    for i in range(10):
        kit4.crunch(0.2)
        hub.reduce(1)


if "RANK" not in kit4.os.environ:
    kit4.os.environ["STORE"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "store", kit4.os.environ["STORE"]], "store", start_new_session=True)
kit4.main(2, train)
