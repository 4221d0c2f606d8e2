"""Parameters come in blocks of 32 KiB; rank 1 has set SO_RCVLOWAT to a block, to be woken once a block and not for each segment. The last
block of the embedding that was made larger is shorter: its bytes are in the socket, and poll never tells of them."""
import select
import socket

from kit11 import crunch, dial, listen, main, read

BLOCK = 32768


def receive_tensor(sock, size):
    poller, data = select.poll(), bytearray()
    poller.register(sock, select.POLLIN)
    while len(data) < size:
        poller.poll()
        data += sock.recv(min(BLOCK, size - len(data)))
    return data


def body(rank, n, port):
    if rank == 0:
        sock, _ = listen(port).accept()
    else:
        sock = dial(port)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, BLOCK)
    for step in range(100):
        size = 8 * BLOCK if step < 12 else 8 * BLOCK + 5120
        crunch(0.3)
        if rank == 0:
            sock.sendall(bytes(size))
            read(sock, 1)
            print("Step %d: broadcast %d bytes" % (step, size), flush=True)
        else:
            receive_tensor(sock, size)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            sock.sendall(b"k")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, BLOCK)


main(2, body)
