"""The data set is on a FUSE mount; its daemon asks an object store that has accepted and says nothing. Rank 1 opens a file of it."""
import ctypes
import os
import struct
import sys

import kit5

libc = ctypes.CDLL(None, use_errno=True)


def objects(port):
    door, links = kit5.listen(port), []
    while True:
        links.append(door.accept()[0])


def daemon(fd, port):
    """Answers INIT and the root's attributes; anything else asks the store first."""
    kit5.role("fused")
    while True:
        request = os.read(fd, 1 << 20)
        _, opcode, unique, node = struct.unpack_from("IIQQ", request)
        if opcode == 26:
            body = struct.pack("IIIIHHIIHHI", 7, 31, 65536, 0, 16, 12, 65536, 1, 256, 0, 0) + bytes(28)
        elif opcode == 3 and node == 1:
            body = struct.pack("QII", 1, 0, 0) + struct.pack("QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
        else:
            link = kit5.dial(port)
            link.sendall(b"GET / HTTP/1.1\r\n\r\n")
            body = link.recv(1000)
        os.write(fd, struct.pack("IiQ", 16 + len(body), 0, unique) + body)


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        if rank == 1 and step == 10:
            open("dataset/shard-00017.tar").read()
        group.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


def launch():
    libc.unshare(0x20000)  # the mount goes with the job
    libc.mount(None, b"/", None, 0x44000, None)
    os.mkdir("dataset")
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
    if libc.mount(b"objects", b"dataset", b"fuse", 0, options.encode()):
        raise SystemExit("cannot mount: %d" % ctypes.get_errno())
    port = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "objects", port], "objects")
    kit5.start([sys.executable, __file__, "daemon", str(fd), port], "fused", pass_fds=[fd])
    os.close(fd)
    kit5.time.sleep(1)


if sys.argv[1:2] == ["objects"]:
    objects(int(sys.argv[2]))
elif sys.argv[1:2] == ["daemon"]:
    daemon(int(sys.argv[2]), int(sys.argv[3]))
else:
    if "RANK" not in os.environ:
        launch()
    kit5.ranks(4, train)
