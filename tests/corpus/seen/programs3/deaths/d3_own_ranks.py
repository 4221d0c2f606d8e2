import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if "LOCAL_RANK" not in os.environ:
    child = subprocess.Popen([sys.executable, "-u", __file__], env=dict(os.environ, LOCAL_RANK="1", WORLD_SIZE="2", NODE_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="29533"))
    role("rank1", child.pid)
    os.environ.update(LOCAL_RANK="0", WORLD_SIZE="2")
    a = socket.socket(socket.AF_UNIX); a.bind("\0d3own" + str(child.pid)); a.listen(1)
    c = a.accept()[0]
    steps(10)
    if c.recv(1) == b"":
        raise RuntimeError("[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:51312")
c = socket.socket(socket.AF_UNIX)
while True:
    try:
        c.connect("\0d3own" + str(os.getpid())); break
    except OSError:
        time.sleep(0.02)
time.sleep(1)
raise ValueError("val split of rank 1 is empty: 0 of 37 files are readable")
