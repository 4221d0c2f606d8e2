"""Rank 0 writes checkpoints to a mounted file system (FUSE, for root only, in a name space of mounts of its own).
What serves it has lost its server and says nothing to the fsync of the second one; the other ranks wait for
rank 0. "slow": it answers after 45 s."""
import errno
import os
import stat
import struct
import sys
import time

from kit13 import SLOW, Hub, crunch, libc, main, me, start

ENTRY, OPEN, FSYNC, NODE = "QQQQII", "QII", 20, 2


class Served:
    """A folder with one file in it."""

    def __init__(self, fd):
        self.fd, self.size, self.name, self.syncs = fd, 0, None, 0

    def attr(self, node):
        mode = stat.S_IFDIR | 0o755 if node == 1 else stat.S_IFREG | 0o644
        size = self.size if node != 1 else 0
        return struct.pack("6Q3I7I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def entry(self):
        return struct.pack(ENTRY, NODE, 1, 0, 0, 0, 0) + self.attr(NODE)

    def answer(self, op, node, body):
        if op == 26:
            return struct.pack("4I2H2I2H8I", 7, 31, 65536, 0, 8, 6, 65536, 1, 0, 0, *[0] * 8)
        if op == 1:
            return self.entry() if body.rstrip(b"\0") == self.name else errno.ENOENT
        if op in (3, 4):
            if op == 4:
                self.size = 0
            return struct.pack("QII", 0, 0, 0) + self.attr(node)
        if op == 35:
            self.name, self.size = body[16:].rstrip(b"\0"), 0
            return self.entry() + struct.pack(OPEN, 1, 0, 0)
        if op in (14, 27):
            return struct.pack(OPEN, 1, 0, 0)
        if op == 16:
            at, size = struct.unpack_from("QI", body, 8)
            self.size = max(self.size, at + size)
            return struct.pack("II", size, 0)
        if op == FSYNC:
            self.syncs += 1
            while self.syncs == 2:
                print("objectfs: server 10.0.3.7 not responding, still trying", flush=True)
                time.sleep(45 if SLOW else 30)
                self.syncs += SLOW
        return b"" if op in (18, 20, 25, 29) else errno.ENOSYS

    def serve(self):
        while True:
            data = os.read(self.fd, 2 ** 17 + 4096)
            _, op, unique, node = struct.unpack_from("IIQQ", data)
            if op in (2, 36, 42):
                continue
            got = self.answer(op, node, data[40:])
            error, body = (-got, b"") if isinstance(got, int) else (0, got)
            os.write(self.fd, struct.pack("IiQ", 16 + len(body), error, unique) + body)


def mounted():
    os.mkdir("mnt")
    fd = os.open("/dev/fuse", os.O_RDWR)
    how = "fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
    if libc.mount(b"objectfs", os.path.abspath("mnt").encode(), b"fuse.objectfs", 6, how.encode()):
        raise SystemExit("cannot mount")
    start([sys.executable, sys.argv[0], "serve", str(fd), *sys.argv[1:]], "objectfs", pass_fds=[fd],
          stdout=open("objectfs.log", "w"))
    os.close(fd)


def save(step):
    with open("mnt/step%d.ckpt" % step, "wb") as f:
        for _ in range(20):
            f.write(bytes(50000))
        f.flush()
        os.fsync(f.fileno())


def body(rank, world, port):
    hub = Hub(rank, world, port)
    for step in range(1, 61):
        crunch(0.1)
        hub.reduce(step)
        if step % 20 == 0 and rank == 0:
            begin = time.time()
            save(step)
            print("step %d saved in %.1f s" % (step, time.time() - begin), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        me("objectfs")
        Served(int(sys.argv[2])).serve()
    else:
        if "RANK" not in os.environ:
            if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, 0x44000, None):
                raise SystemExit("no name space of mounts")
            mounted()
        main(3, body)
