"""A pool's worker raises for one file of many; the parent's map raises it anew."""
import multiprocessing

from kitd28 import role, steps


def size(name):
    if name == "img_0231.png":
        raise ValueError("img_0231.png: palette of 0 colours")
    return len(name)


if __name__ == "__main__":
    role("main")
    steps(20)
    with multiprocessing.Pool(2) as pool:
        pool.map(size, ["img_%04d.png" % k for k in range(400)])
