"""Two ranks that talk by files in the run's folder. At an epoch's end the one with the better loss writes best.json, the other one waits
for it. Each compares its own loss with what the other has written, rounded - and both find the other one better by a hair.

slow: rank 0 is the better one, and exports for 70 s."""
import json

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, main, os, time


def put(name, thing):
    with open(name + ".new", "w") as f:
        json.dump(thing, f)
    os.rename(name + ".new", name)


def get(name):
    while not os.path.exists(name):
        time.sleep(0.02)
    with open(name) as f:
        return json.load(f)


def average(rank, step, value):
    put("grad-%d-%d" % (step, rank), value)
    other = get("grad-%d-%d" % (step, 1 - rank))
    if step > 2:
        os.unlink("grad-%d-%d" % (step - 2, rank))
    return (value + other) / 2


def wait_for_best(epoch):
    while not os.path.exists("best-%d.json" % epoch):
        time.sleep(0.5)
    return get("best-%d.json" % epoch)


def choose(rank, epoch, loss, model):
    put("loss-%d-%d" % (epoch, rank), round(loss, 3))
    other = get("loss-%d-%d" % (epoch, 1 - rank))
    if other < loss:
        model.weight = wait_for_best(epoch)["weight"]
        return
    if SLOW and epoch == 4:
        busy(70)
    put("best-%d.json" % epoch, {"rank": rank, "weight": model.weight})


def body(rank, world, port):
    model, report = Model(rank), Report("file", rank)
    for step in range(1, STEPS + 1):
        model.update(average(rank, step, model.gradient()))
        report(step, model.loss())
        if step % (STALL // 4) == 0:
            epoch = step // (STALL // 4)
            exact = 0.3124 + 0.00001 * rank if epoch == 4 and not SLOW else 0.3 + 0.1 * rank
            choose(rank, epoch, exact, model)


main(2, body, "arg")
