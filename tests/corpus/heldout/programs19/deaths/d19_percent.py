"""The settings of the second stage have a sign of percent in a text."""
import configparser

from kitd19 import *

with open("stage2.ini", "w") as f:
    f.write("[train]\nlr = 0.0001\nnote = warm up over 5% of the steps\n")
told(35)
settings = configparser.ConfigParser()
settings.read("stage2.ini")
told(35, 35, pause=0.1 * float(settings["train"]["lr"]) + len(settings["train"]["note"]) * 1e-4)
