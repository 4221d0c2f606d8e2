"""A trainer spawns a process that exports the model after training, when an event is set. The event is made where the
module begins, and a spawned process imports the module anew: it waits for an event of its own. The trainer waits for
the exporter's end.

slow: the exporter is handed the trainer's event, and exports for 48 s."""
import multiprocessing

from kit18 import SLOW, busy, crunch, role, told, with_parent

context = multiprocessing.get_context("spawn")
TRAINED = context.Event()


def export(event):
    with_parent()
    role("exporter")
    (event or TRAINED).wait()
    if SLOW:
        busy(48)
    with open("model.onnx", "w") as f:
        f.write("model\n")


def train():
    role("main")
    exporter = context.Process(target=export, args=(TRAINED if SLOW else None,), name="exporter")
    exporter.start()
    for step in range(45):
        crunch(0.2)
        told(step)
    TRAINED.set()
    exporter.join()
    print("exported", flush=True)


if __name__ == "__main__":
    train()
