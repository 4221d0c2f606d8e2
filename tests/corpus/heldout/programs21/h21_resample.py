"""Three ranks. A crop is drawn again until enough of an object is in it. Rank 1 has an image whose object is smaller than
what is asked for, and draws for ever.

slow: an object that is hard to hit is found after 48 s."""
import random
import time

from kit21 import SLOW, STEPS, Hub, crunch, main, told


def overlap(crop, box):
    width = min(crop[0] + 64, box[0] + box[2]) - max(crop[0], box[0])
    height = min(crop[1] + 64, box[1] + box[3]) - max(crop[1], box[1])
    return max(width, 0) * max(height, 0)


def random_crop(box, wanted=400):
    begin = time.monotonic()
    while True:
        crop = random.randrange(448), random.randrange(448)
        if overlap(crop, box) >= wanted:
            return crop
        if SLOW and time.monotonic() - begin > 48:
            return crop


def body(rank, world, port):
    hub = Hub(rank, world, port)
    for step in range(STEPS):
        hard = rank == 1 and step == 40
        random_crop((200, 200, 12, 12) if hard else (100, 100, 300, 300))
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(3, body)
