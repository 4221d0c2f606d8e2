"""A second stage makes a folder for its run by the day: the first stage had the same day."""
from kitd19 import *


def begin(stage):
    folder = time.strftime("run-%Y-%m-%d")
    os.mkdir(folder)
    with open(folder + "/stage", "w") as f:
        f.write(stage)


begin("pretrain")
told(35)
begin("finetune")
told(35, 35)
