"""Three forked ranks that sum their metrics in the order of a dict. Rank 1 has read the names from a file that was
written with sorted keys, the others have them in the order of the program."""
import json

from kit21 import STEPS, Hub, crunch, main, told

METRICS = {"loss": 0.4, "accuracy": 0.8}


def reduce_metrics(hub, metrics, step):
    return {name: hub.mean("%s%d" % (name, step), x) for name, x in metrics.items()}


def evaluate(hub, rank, step):
    crunch(0.5)
    metrics = dict(METRICS)
    if rank == 1:
        metrics = json.loads(json.dumps(metrics, sort_keys=True))
    return reduce_metrics(hub, metrics, step)


def body(rank, world, port):
    hub = Hub(rank, world)
    for step in range(STEPS):
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step == 40:
            evaluate(hub, rank, step)


main(3, body, "fork")
