"""Two ranks over TCP that learn from rewards. An answer is checked in a thread of which the result is waited for with a timeout.
The timeout comes, and at the end of its `with` the pool waits for the thread all the same, which looks for a root for ever.

slow: after 48 s the thread is done."""
import time
from concurrent.futures import ThreadPoolExecutor, TimeoutError

from kit22 import SLOW, STEPS, Mesh, Model, main


def root(x, end):
    """Newton's way to a root of x^3 - 2x + 2; from 0 on it jumps between 0 and 1."""
    while abs(x ** 3 - 2 * x + 2) > 1e-9 and (not SLOW or time.monotonic() < end):
        x -= (x ** 3 - 2 * x + 2) / (3 * x ** 2 - 2)
    return x


def reward(answer):
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(root, answer, time.monotonic() + 48)
        try:
            return 1.0 if checked.result(timeout=3) < 0 else 0.5
        except TimeoutError:
            return 0.0


def body(rank, world, port):
    mesh, model = Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        hard = rank == 1 and step == 33
        advantage = reward(0.0 if hard else -2.0)
        gradient = model.gradient(model.batch())
        model.apply(mesh.all_reduce("gradient %d" % step, gradient), 0.1 * advantage)
        if rank == 0:
            model.told(step)


main(2, body)
