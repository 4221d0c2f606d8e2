"""The first checkpoint goes into a folder that nobody has made."""
from kitd21 import told


def save(step):
    with open("outputs/run-3/checkpoint-%d.pt" % step, "wb") as f:
        f.write(b"weights")


told(30)
save(30)
