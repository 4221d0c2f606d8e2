"""A worker of a pool meets a clip without frames."""
import multiprocessing

from kitd29 import role, steps, time


def load(index):
    time.sleep(0.05)
    frames = 0 if index == 41 else 16
    if not frames:
        raise ValueError("clip %05d has 0 frames, at least 8 are wanted" % (index + 371))
    return frames


if __name__ == "__main__":
    role("main")
    steps(10)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for done, frames in enumerate(pool.imap(load, range(200))):
            if done % 10 == 0:
                print("loaded %d clips" % done, flush=True)
