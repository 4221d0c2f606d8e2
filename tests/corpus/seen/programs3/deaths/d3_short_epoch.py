import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    name = "\0d3ep" + os.environ["D3_ID"]
    if RANK == 0:
        s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen(3)
        peers = [s.accept()[0] for _ in range(2)]
    else:
        while True:
            try:
                c = socket.socket(socket.AF_UNIX); c.connect(name); break
            except OSError:
                time.sleep(0.02)
        peers = [c]
        c.sendall(bytes([RANK]))
    steps(8)
    if RANK == 2:
        print("rank 2: no more batches", flush=True)
        sys.exit(0)
    import select
    while True:
        for c in select.select(peers, [], [])[0]:
            if c.recv(1) == b"":
                raise ConnectionError("Connection closed by peer in all_reduce")
ranks = launch(3, __file__, "env", D3_ID=str(os.getpid()))
bad = first_bad(ranks)
stop(ranks)
sys.exit(1)
