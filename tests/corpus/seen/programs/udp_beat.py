"""Elastic group: rank 0 collects datagrams, late members arrive after 65 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def run():
    port = int(os.environ["MASTER_PORT"])
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if kit.RANK == 0:
        s.bind(("127.0.0.1", port))
        seen = set()
        while len(seen) < kit.WORLD - 1:
            data, _ = s.recvfrom(100)
            seen.add(data)
        print("group complete", flush=True)
    else:
        time.sleep(0.5 if kit.RANK == 1 else kit.secs(65))
        s.sendto(b"member %d" % kit.RANK, ("127.0.0.1", port))
    for i in range(10):
        time.sleep(0.2)
        kit.step(i)


kit.main(3, run)
