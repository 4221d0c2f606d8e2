"""A pool augments the first epoch's images and is kept for the next one; in between main fits a small model
for 50 s, and the pool's processes wait for tasks."""
import multiprocessing

from kit14 import crunch, role, told, with_parent


def begin():
    with_parent()
    role("augment")


def augment(k):
    crunch(0.2)
    return k % 255


if __name__ == "__main__":
    role("main")
    with multiprocessing.get_context("fork").Pool(3, begin) as pool:
        for epoch in range(2):
            for step, _ in enumerate(pool.imap(augment, range(120))):
                told(step, 10)
            if epoch == 0:
                print("fitting the calibration", flush=True)
                for _ in range(50):
                    crunch(1)
