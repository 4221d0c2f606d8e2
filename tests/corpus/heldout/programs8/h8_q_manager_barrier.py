"""Three trainers meet at a barrier of a Manager. Trainer 2 waits for 65 s as its plan of energy prices says."""
import multiprocessing as mp
import time

import kit8


def train(number, barrier, scores):
    kit8.with_parent()
    for step in range(30):
        kit8.crunch(0.25)
        if (number, step) == (2, 15):
            time.sleep(65)
        scores[number] = step
        barrier.wait()
        if number == 0:
            print("step %d: scores %s" % (step, dict(scores)), flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    manager = mp.Manager()
    barrier, scores = manager.Barrier(3), manager.dict()
    crew = [mp.Process(target=train, args=(n, barrier, scores)) for n in range(3)]
    for p in crew:
        p.start()
    for p in crew:
        p.join()
