"""A limit of file sizes strikes in a checkpoint: SIGXFSZ is ignored by Python, the write fails."""
import resource

from kitd28 import role, steps

role("main")
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
steps(20)
with open("model.ckpt", "wb") as f:
    f.write(b"w" * (4 << 20))
