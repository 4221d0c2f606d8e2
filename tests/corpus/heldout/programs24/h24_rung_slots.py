"""A search by halves: the trials of a bracket train, tell their loss, and wait for word who may go on; a trial has one of
three slots until it ends. The second bracket has four trials: three wait for the word, which comes when the fourth has
told its loss, and the scheduler waits for a slot to start it.

slow: each bracket has three, and one trial takes 76 s for its epochs."""
import multiprocessing

from kit24 import SLOW, Descent, busy, role, with_parent


def trial(name, slots, pipe, long):
    with_parent()
    role(name)
    descent, epochs = Descent(hash(name) % 100), 3
    while epochs:
        for _ in range(4 * epochs):
            descent.follow(descent.slope(0.1))
        if long:
            busy(76)
        pipe.send(descent.loss)
        epochs, long = pipe.recv(), False
    slots.release()


def take_slot(slots):
    slots.acquire()


def begin(context, bracket, count, slots):
    running = {}
    for k in range(count):
        take_slot(slots)
        mine, its = context.Pipe()
        name = "trial%d" % k
        long = SLOW and bracket == 1 and k == 1
        context.Process(target=trial, args=(name, slots, its, long), name=name, daemon=True).start()
        its.close()
        running[name] = mine
    return running


def halve(running, step):
    while running:
        losses = {name: pipe.recv() for name, pipe in running.items()}
        best = min(losses.values())
        print("step %d trials %d best %.4f" % (step, len(running), best), flush=True)
        step += 1
        kept = sorted(losses, key=losses.get)[:len(running) // 2]
        for name, pipe in running.items():
            pipe.send(4 if name in kept else 0)
        running = {name: running[name] for name in kept}
    return step


def search():
    role("main")
    context, step = multiprocessing.get_context("fork"), 0
    slots = context.Semaphore(3)
    for bracket in range(3 if SLOW else 20):
        step = halve(begin(context, bracket, 3 if SLOW or bracket < 2 else 4, slots), step)


search()
