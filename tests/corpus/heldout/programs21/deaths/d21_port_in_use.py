"""Two ranks. For the second stage rank 0 opens the store's port anew, which the first stage's has still."""
import socket
import time

from kitd21 import RANK, Ranks


def open_store():
    store = socket.socket()
    store.bind(("127.0.0.1", first.getsockname()[1] if first else 0))
    store.listen(4)
    return store


ranks, first = Ranks(), None
for k in range(60):
    ranks.step(k)
    if RANK == 0 and k in (1, 30):
        first = open_store()
    time.sleep(0.01)
