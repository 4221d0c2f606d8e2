import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for k in range(5):
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except OSError as e:
        say(f"[W socket.cpp:663] [c10d] The client socket has failed to connect to [localhost]:9 (errno: 111 - Connection refused).")
        time.sleep(0.2)
raise TimeoutError("The client socket has timed out after 60s while trying to connect to (127.0.0.1, 9): Connection refused after 5 attempts")
