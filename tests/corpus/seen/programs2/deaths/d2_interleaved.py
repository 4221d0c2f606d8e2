import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
name = f"/tmp/corpus-{os.environ['MASTER_PORT']}.sock"
if RANK == 2:
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen()
    time.sleep(1.5)
    a = [s.accept()[0] for _ in range(2)]
    time.sleep(0.5)
    os.unlink(name)
    raise ValueError("sample 8121 has a negative label -1")
time.sleep(1)
s = socket.socket(socket.AF_UNIX); s.connect(name)
if not s.recv(8):
    raise RuntimeError(f"[{RANK}] Connection closed by peer [127.0.0.1]:41234")
