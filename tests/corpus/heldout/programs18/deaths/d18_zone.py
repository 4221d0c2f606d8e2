"""A budget of time is compared with a clock that has no zone."""
import datetime

from kitd18 import *

deadline = datetime.datetime.fromisoformat("2036-11-29T12:00:00+00:00")
told(25)
if datetime.datetime.now() > deadline:
    say("the budget is used up")
told(25, 25)
