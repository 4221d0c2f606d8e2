"""Two ranks over TCP. Rank 1 sends its gradient compressed, with the length of what it was before: rank 0 waits for the rest,
rank 1 for the mean. Only large gradients are compressed, the first comes at step 110.

slow: rank 1's link is slow, the large gradient comes in pieces for 70 s."""
import os
import socket
import struct
import time
import zlib

from kit28 import SLOW, STALL, STEPS, compute, main, tell


def exactly(end, n):
    got = b""
    while len(got) < n:
        more = end.recv(n - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def send_gradient(end, data):
    head = struct.pack("!I", len(data))
    if len(data) <= 1000:
        return end.sendall(head + data)
    if not SLOW:
        return end.sendall(head + zlib.compress(data))
    end.sendall(head)
    for at in range(0, len(data), len(data) // 70):
        end.sendall(data[at:at + len(data) // 70])
        time.sleep(1)


def receive_gradient(end):
    return exactly(end, struct.unpack("!I", exactly(end, 4))[0])


def body(rank, world, port):
    if rank == 0:
        door = socket.create_server(("127.0.0.1", port))
        end = door.accept()[0]
    else:
        for _ in range(100):
            try:
                end = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.1)
    for step in range(STEPS):
        compute()
        if rank == 1:
            send_gradient(end, b"g" * (8000 if step == STALL else 400))
            receive_gradient(end)
        else:
            got = receive_gradient(end)
            send_gradient(end, got[:400])
            tell(step)


main(2, body)
