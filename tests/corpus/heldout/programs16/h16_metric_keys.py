"""Three ranks average their gradients in a mesh of TCP connections. After each epoch each rank averages the metrics
that it has, by name. No sample of rank 1 has an answer that can be parsed in the fourth epoch, so it has no
"format" metric, and goes on to the next step."""
from kit16 import Mesh, crunch, main, told


def score(rank, epoch):
    metrics = {"accuracy": 0.5, "length": 310.0}
    parsed = 0 if rank == 1 and epoch == 3 else 12
    if parsed:
        metrics["format"] = parsed / 16
    return metrics


def log_metrics(mesh, epoch):
    for name, value in sorted(score(mesh.rank, epoch).items()):
        mesh.mean("%s@%d" % (name, epoch), value)


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(400):
        crunch(0.15)
        mesh.mean("grad%d" % step, 1.0)
        if rank == 0:
            told(step)
        if step % 15 == 14:
            log_metrics(mesh, step // 15)


main(3, body)
