"""A virtual timer runs out."""
from job import *
role('main')
signal.setitimer(signal.ITIMER_VIRTUAL, 1.5)
warm()
while True:
    pass
