"""Reinforcement learning: the answer of the model is computed to compare it. An alarm should end what takes too long, but the interpreter calls
handlers between operations only, and rank 1 is in one operation, the sum of a long range, for a day."""
import signal

from kit11 import Hub, crunch, main

ANSWERS = ["2**10", "12*12", "3**4-1", "sum(range(1, 9)) + 6"]


def too_long(*_):
    raise TimeoutError


def reward(answer, truth):
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return float(eval(answer, {"__builtins__": {"sum": sum, "range": range}}) == truth)
    except TimeoutError:
        return 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def body(rank, n, port):
    hub = Hub(rank, n, port)
    for step in range(200):
        crunch(0.3)
        answer = "sum(range(10**13))" if (rank, step) == (1, 17) else ANSWERS[step % 4]
        total = hub.reduce(reward(answer, 42))
        if rank == 0:
            print("grpo step %d reward %.2f kl %.4f" % (step, total / n, 0.01 * step), flush=True)


main(2, body)
