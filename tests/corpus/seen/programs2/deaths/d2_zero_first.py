import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

name = f"/tmp/corpus-{os.environ['MASTER_PORT']}.sock"
steps(6)
if RANK == 1:
    s = socket.socket(socket.AF_UNIX); s.bind(name); s.listen()
    a = s.accept()[0]
    steps(10, begin=6)
    os.unlink(name)
    sys.exit(0)
time.sleep(0.6)
s = socket.socket(socket.AF_UNIX); s.connect(name)
if not s.recv(8):
    time.sleep(0.6)
    raise RuntimeError("Connection closed by peer [127.0.0.1]:41234")
