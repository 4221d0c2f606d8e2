"""A background upload of rank 1 hangs at a silent bucket and harms nobody; rank 2 takes a lock that it holds."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time

ckpt = threading.Lock()


def upload():
    s = kit.dial(int(os.environ["BUCKET"]))
    s.sendall(b"PUT /ckpt/last HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd")
    s.recv(1000)


def digest():
    with ckpt:
        return 7


def save(deep):
    with ckpt:
        time.sleep(0.05)
        return digest() if deep else 0


def run():
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 1 and i == 6:
            threading.Thread(target=upload, name="upload", daemon=True).start()
        save(kit.RANK == 2 and i == 21)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "plain")


kit.main(4, run, lambda: {"BUCKET": kit.outside(kit.mute_server)})
