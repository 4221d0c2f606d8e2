"""Two ranks with a socket by hand: rank 1 sends the length and the embeddings of an evaluation, rank 0 says that it has them. Rank 0
takes what one `recv` gives for the whole. As long as it is little that is so; from step 40 on the rest of a message is taken
for the next one's length, and rank 0 waits for more bytes than there will be, rank 1 for its word.

slow: rank 0 reads all, and needs 48 s to look at them once."""
import struct

from kit22 import SLOW, STEPS, Model, busy, dial, listen, main


def take_message(end):
    size = struct.unpack("!I", take(end, 4))[0]
    return take(end, size) if SLOW or size > 1 << 24 else end.recv(size)


def take(end, size):
    got = b""
    while len(got) < size:
        got += end.recv(min(size - len(got), 1 << 16))
    return got


def share(end, embeddings):
    end.sendall(struct.pack("!I", len(embeddings)) + embeddings)


def wait_word(end):
    return end.recv(2)


def body(rank, world, port):
    model = Model(rank)
    if rank == 0:
        door = listen(port + 1)
        end = door.accept()[0]
    else:
        end = dial(port + 1)
    for step in range(STEPS):
        model.apply(model.gradient(model.batch()))
        if rank == 0:
            model.told(step)
        if step % 5:
            continue
        if rank:
            share(end, b"\x3f\x80" * (1000 if step < 40 else 3000000))
            wait_word(end)
        else:
            take_message(end)
            if SLOW and step == 40:
                busy(48)
            end.sendall(b"ok")


main(2, body)
