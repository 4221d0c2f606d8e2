"""The summary of a run has a date in it as it is written."""
import datetime

from kitd18 import *

summary = {"begun": datetime.datetime.now(), "loss": 0.42, "steps": 40}
told(40)
with open("summary.json", "w") as f:
    json.dump(summary, f)
say("summary written")
