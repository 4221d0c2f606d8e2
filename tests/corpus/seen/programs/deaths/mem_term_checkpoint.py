"""It would save a checkpoint at SIGTERM; it leaks slowly."""
from mem import *

role("main")
def save(*_):
    print("SIGTERM: saving", flush=True)
    open("ckpt", "wb").write(b"x" * 1000)
    print("saved", flush=True)
    os._exit(143)
signal.signal(signal.SIGTERM, save)
keep = block(200)
grow(30)
