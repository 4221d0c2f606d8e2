"""best.ckpt is a folder from another run; saving fails, and so does the message about it."""
import tempfile

from kitd16 import *

folder = tempfile.mkdtemp()
os.mkdir(folder + "/best.ckpt")


def save(path):
    try:
        with open(path, "wb") as f:
            f.write(b"weights")
    except OSError as error:
        say("could not save at step %d: %s" % (error.step, error))


told(30)
save(folder + "/best.ckpt")
