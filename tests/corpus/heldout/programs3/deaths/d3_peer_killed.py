import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role(f"rank{RANK}")
name = "\0d3pk" + os.environ["MASTER_PORT"]
if RANK == 0:
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen(1); c = s.accept()[0]
else:
    while True:
        try:
            c = socket.socket(socket.AF_UNIX); c.connect(name); break
        except OSError:
            time.sleep(0.02)
for i in range(300):
    steps(1, i)
    c.sendall(b"g")
    if c.recv(1) == b"":
        raise ConnectionResetError(104, "Connection reset by peer")
