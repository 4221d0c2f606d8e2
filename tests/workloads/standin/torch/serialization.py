import time


def save(data, path, pieces, pause_s=0.1):
    """A checkpoint that grows: so many pieces of data."""
    with open(path, "wb", buffering=0) as f:
        for _ in range(pieces):
            f.write(data)
            time.sleep(pause_s)
