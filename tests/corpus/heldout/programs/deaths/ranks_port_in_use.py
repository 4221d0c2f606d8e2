"""Rank 0 cannot listen as the port is taken."""
from job import *

role(f"rank{RANK}")
if RANK == 0:
    port = int(os.environ["MASTER_PORT"])
    a = socket.socket()
    a.bind(("127.0.0.1", 0))
    a.listen(1)
    b = socket.socket()
    try:
        b.bind(a.getsockname())
    except OSError as e:
        raise RuntimeError(f"The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:{port} (errno: 98 - Address already in use).") from e
time.sleep(20)
