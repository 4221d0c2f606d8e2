"""The disk is full when a checkpoint is written. The error is told with a text of the program's own."""
import os

from kitd21 import told


class CheckpointError(Exception):
    pass


def save(step):
    try:
        with open("ckpt/step%d.pt" % step, "wb") as f:
            f.write(b"w" * 10000)
    except OSError as error:
        raise CheckpointError("step %d could not be saved" % step) from error


os.mkdir("ckpt")
os.symlink("/dev/full", "ckpt/step30.pt")
told(30)
save(30)
