"""Four trainers meet at a barrier of a Manager. Trainer 2 caught an error of its data, told it and returned."""
import multiprocessing as mp

import kit8


def train(number, barrier, scores):
    kit8.with_parent()
    kit8.role("trainer%d" % number)
    try:
        for step in range(1000):
            kit8.crunch(0.25)
            if (number, step) == (2, 15):
                raise KeyError("label 1001")
            scores[number] = step
            barrier.wait()
            if number == 0:
                print("step %d: scores %s" % (step, dict(scores)), flush=True)
    except KeyError as error:
        print("trainer %d: data error: %s" % (number, error), flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    kit8.role("main")
    manager = mp.Manager()
    kit8.role("manager", manager._process.pid)
    barrier, scores = manager.Barrier(4), manager.dict()
    crew = [mp.Process(target=train, args=(n, barrier, scores)) for n in range(4)]
    for p in crew:
        p.start()
    for p in crew:
        p.join()
