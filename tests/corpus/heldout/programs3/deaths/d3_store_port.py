import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
port = s.getsockname()[1]
print("initializing process group", flush=True)
time.sleep(0.5)
try:
    socket.socket().bind(("127.0.0.1", port))
except OSError as e:
    say(f"[W socket.cpp:464] [c10d] The server socket has failed to bind to [::]:{port} (errno: 98 - Address already in use).")
    say("[E socket.cpp:500] [c10d] The server socket has failed to listen on any local network address.")
    raise RuntimeError(f"The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:{port} (errno: 98 - Address already in use).") from None
