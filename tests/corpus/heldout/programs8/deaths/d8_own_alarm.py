from kitd8 import *


def late(number, frame):
    raise TimeoutError("evaluation took more than 2 s")


signal.signal(signal.SIGALRM, late)
fit(6)
signal.alarm(2)
time.sleep(60)
