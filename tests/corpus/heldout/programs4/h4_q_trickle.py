"""Rank 1 fetches its tokenizer over a very slow line; the others wait for it."""
import socket
import sys
import time

import kit4


def serve(port):
    door = kit4.listen(int(port))
    s, _ = door.accept()
    for _ in range(240):
        s.sendall(bytes(120))
        time.sleep(0.3)
    s.close()
    time.sleep(1000)


def train(rank, world, port):
    tree = kit4.Tree(rank, world, port)
    for i in range(20):
        kit4.crunch(0.2)
        tree.reduce(1)
        if i == 8 and rank == 1:
            s = socket.create_connection(("127.0.0.1", int(kit4.os.environ["SLOW"])))
            got = 0
            while True:
                part = s.recv(65536)
                if not part:
                    break
                got += len(part)
        if rank == 0:
            print("it %d" % i, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2])
if "RANK" not in kit4.os.environ:
    kit4.os.environ["SLOW"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "serve", kit4.os.environ["SLOW"]], "mirror", start_new_session=True)
kit4.main(3, train)
