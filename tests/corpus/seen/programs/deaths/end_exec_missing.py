"""The trainer replaces itself by a program that is not there."""
from job import *

train(0, 20)
os.execv("/opt/trainer/bin/launch", ["launch"])
