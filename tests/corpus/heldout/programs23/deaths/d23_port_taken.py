"""Two ranks. Rank 0 opens a port for metrics, which is taken already, here by itself."""
import socket

from kitd23 import RANK, ranks, step


def open_metrics():
    doors = []
    for port in (0, None):
        door = socket.socket()
        door.bind(("127.0.0.1", doors[0].getsockname()[1] if doors else port))
        door.listen()
        doors.append(door)


tree = ranks()
for k in range(60):
    step(tree, k)
    if RANK == 0 and k == 20:
        open_metrics()
