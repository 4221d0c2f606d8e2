"""Rank 3 starts late because it first unpacks its data for 62 s; the rest stands in accept and recv."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import tarfile
import io
import time


def unpack(n):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as t:
        info = tarfile.TarInfo("data")
        info.size = 200000
        t.addfile(info, io.BytesIO(os.urandom(200000)))
    end = time.time() + n
    while time.time() < end:
        raw.seek(0)
        with tarfile.open(fileobj=raw) as t:
            t.extractfile("data").read()
        time.sleep(0.1)


def run():
    if kit.RANK == 3:
        unpack(kit.secs(62))
    group = kit.Star()
    for i in range(12):
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
