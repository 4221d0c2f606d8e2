"""A server of parameters and three workers over pipes of multiprocessing. The server's round is complete when each worker has sent a
gradient. Worker 1 has filtered all of a batch's samples away, sends nothing and asks for the next weights; these come after the round.

slow: nothing is filtered; worker 1 reads its cold shard for 69 s. The workers have their number from their name, as WORKER_ID."""
import multiprocessing

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, os, role, with_parent


def worker(index, pipe):
    with_parent()
    role("worker%d" % index)
    os.environ["WORKER_ID"] = str(index)
    model = Model(index)
    for step in range(STEPS):
        model.weight = pipe.recv()
        samples = [s for s in range(16) if not (index == 1 and step == STALL and not SLOW)]
        if SLOW and index == 1 and step == STALL:
            busy(69)
        slope = model.gradient()
        if not samples:
            continue
        pipe.send((step, slope))
    pipe.close()


def serve(pipes, model, report):
    for step in range(STEPS):
        for pipe in pipes:
            pipe.send(model.weight)
        slopes = []
        for pipe in pipes:
            _, slope = pipe.recv()
            slopes.append(slope)
        model.update(sum(slopes) / len(slopes))
        report(step, model.loss())


def main():
    role("main")
    context, pipes, workers = multiprocessing.get_context("fork"), [], []
    for index in range(3):
        mine, theirs = context.Pipe()
        workers.append(context.Process(target=worker, args=(index, theirs), name="worker-%d" % index))
        workers[-1].start()
        theirs.close()
        pipes.append(mine)
    serve(pipes, Model(), Report("epoch"))
    for w in workers:
        w.join()


main()
