from kitd6 import *
role("main")
epochs(5)
signal.setitimer(signal.ITIMER_VIRTUAL, 1.0)
while True:
    math.sqrt(2)
