"""Rank 2 locks a checkpoint file with flock, forks an uploader that keeps the descriptor, and locks again later."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import fcntl
import socket
import time


def upload():
    s = socket.create_connection(("127.0.0.1", int(os.environ["BUCKET"])))
    s.sendall(b"PUT ckpt\n")
    s.recv(10)


def save(i):
    fd = os.open(kit.tmp("ckpt"), os.O_CREAT | os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, b"weights")
    if i == 10:
        kit.fork_child("uploader2", upload)
    os.close(fd)


def run():
    kit.services(1)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 2 and i % 5 == 0:
            save(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run, lambda: {"BUCKET": kit.outside(kit.mute_server)})
