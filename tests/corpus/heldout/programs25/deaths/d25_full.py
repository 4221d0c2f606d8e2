"""There is no room for the second checkpoint."""
from kitd25 import role, steps


def save(path):
    with open(path, "wb", buffering=0) as f:
        f.write(b"w" * 65536)


role("main")
steps(10)
save("model-0.bin")
steps(10, 10)
save("/dev/full")
