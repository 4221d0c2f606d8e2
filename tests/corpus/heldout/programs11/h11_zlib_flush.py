"""Messages go through one zlib stream for each direction, which is flushed after each. Rank 1 has a shorter way for small messages
that forgets to flush: the note that it has saved stays in the compressor."""
import pickle
import struct
import zlib

from kit11 import crunch, dial, listen, main


class Channel:
    def __init__(self, sock):
        self.sock, self.packer, self.unpacker, self.rest = sock, zlib.compressobj(), zlib.decompressobj(), b""

    def send(self, x):
        body = pickle.dumps(x)
        self.sock.sendall(self.packer.compress(struct.pack("!I", len(body)) + body) + self.packer.flush(zlib.Z_SYNC_FLUSH))

    def send_small(self, x):
        body = pickle.dumps(x)
        self.sock.sendall(self.packer.compress(struct.pack("!I", len(body)) + body))

    def take(self, n):
        while len(self.rest) < n:
            part = self.sock.recv(4096)
            if not part:
                raise EOFError
            self.rest += self.unpacker.decompress(part)
        head, self.rest = self.rest[:n], self.rest[n:]
        return head

    def receive(self):
        return pickle.loads(self.take(struct.unpack("!I", self.take(4))[0]))


def body(rank, n, port):
    channel = Channel(dial(port) if rank else listen(port).accept()[0])
    for step in range(200):
        crunch(0.2)
        channel.send([0.1] * 400)
        channel.receive()
        if rank == 0:
            print("[%03d] ok" % step, flush=True)
        if step % 30 == 29:
            if rank:
                channel.send_small("saved")
                channel.receive()
            else:
                assert channel.receive() == "saved"
                channel.send_small("go")


main(2, body)
