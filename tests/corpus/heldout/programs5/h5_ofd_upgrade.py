"""Ranks read an index under shared locks of open files; ranks 0 and 1 both want to write at once and ask for the exclusive one."""
import fcntl
import struct

import kit5


def lock(f, kind):
    fcntl.fcntl(f, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    index = open("index.bin", "a+")
    for step in range(1000):
        lock(index, fcntl.F_RDLCK)
        kit5.crunch(0.2)
        mesh.reduce(1)
        if step == 9 and rank < 2:
            lock(index, fcntl.F_WRLCK)
            index.write("rank %d rebuilt\n" % rank)
        lock(index, fcntl.F_UNLCK)
        if rank == 2:
            print("step", step, flush=True)


kit5.ranks(3, train, "slurm")
