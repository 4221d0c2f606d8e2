"""Rank 1 sends samples of text with their length in front, in characters. One has an accent; what is left over is taken for the next length."""
import struct

import kit10

TEXTS = ["a plain line of text", "another one", "and the third", "un café crème, s'il vous plaît – merci", "the rest"]


def body(rank, n, port):
    hub = kit10.Hub(rank, n, port)
    for s in range(40):
        kit10.crunch(0.1)
        if rank == 0:
            for seat in hub.seats:
                size = struct.unpack("!I", kit10.read(seat, 4))[0]
                kit10.read(seat, size)
            for seat in hub.seats:
                kit10.send(seat, "next")
            kit10.log(rank, s, samples=2 * s)
        else:
            text = TEXTS[s // 4 % 5] if rank == 1 else "nothing of interest"
            hub.up.sendall(struct.pack("!I", len(text)) + text.encode())
            kit10.receive(hub.up)


kit10.main(3, body)
