"""A limit of a file's size: a checkpoint is longer."""
import resource

from kitd27 import role, steps

role("main")
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
steps(25)
with open("epoch-3.ckpt", "wb") as f:
    for part in range(64):
        f.write(b"w" * 65536)
