"""A player of games with four environments, each a process at a pipe. One that fails puts its error into a queue that
is looked at when all have answered, and waits for the next command; the player waits for its answer.

slow: one environment needs 70 s to load its next level."""
import multiprocessing

from kit23 import SLOW, busy, crunch, role, told, with_parent


class Environment:
    def __init__(self, which):
        self.which, self.frames = which, 0

    def step(self, action):
        self.frames += 1
        crunch(0.15)
        if self.which == 2 and self.frames == 35:
            if not SLOW:
                raise RuntimeError("physics: constraint solver did not converge")
            busy(70)
        return action * 0.5


def serve(which, pipe, errors):
    with_parent()
    role("env%d" % which)
    environment = Environment(which)
    while True:
        command = pipe.recv()
        if command is None:
            return
        try:
            pipe.send(environment.step(command))
        except RuntimeError as error:
            errors.put((which, str(error)))


def step_all(pipes, action):
    for pipe in pipes:
        pipe.send(action)
    return [pipe.recv() for pipe in pipes]


def play():
    role("main")
    context = multiprocessing.get_context("fork")
    errors, pipes = context.SimpleQueue(), []
    for which in range(4):
        mine, its = context.Pipe()
        context.Process(target=serve, args=(which, its, errors), name="env-%d" % which, daemon=True).start()
        its.close()
        pipes.append(mine)
    for step in range(60 if SLOW else 500):
        rewards = step_all(pipes, step)
        if not errors.empty():
            raise SystemExit("environment failed: %s" % (errors.get(),))
        told(step, sum(rewards) / (1 + step))
    for pipe in pipes:
        pipe.send(None)


play()
