"""The settings say 1e-4, which their reader takes for a text, as it has no point."""
from kitd20 import *


def read_settings(text):
    settings = {}
    for line in text.splitlines():
        name, value = line.split(": ")
        number = value.replace("-", "").replace(".", "", 1).isdigit()
        settings[name] = (float(value) if "." in value else int(value)) if number else value
    return settings


def schedule(settings, step):
    if settings["lr"] <= settings["min_lr"]:
        return settings["min_lr"]
    return settings["lr"] * (1 - step / settings["steps"])


settings = read_settings("steps: 200\nmin_lr: 0.00001\nlr: 1e-4\nwarmup: 30")
for step in range(settings["steps"]):
    lr = schedule(settings, step) if step >= settings["warmup"] else 0.00001
    told(1, step)
