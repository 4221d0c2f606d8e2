"""The settings name a schedule that this version does not have."""
import enum

from kitd24 import steps


class Schedule(enum.Enum):
    LINEAR = "linear"
    COSINE = "cosine"


SETTINGS = [("warm up", "linear"), ("train", "cosine_with_restarts")]
for stage, (name, schedule) in enumerate(SETTINGS):
    print("%s: %s" % (name, Schedule(schedule).name), flush=True)
    steps(15, 15 * stage)
