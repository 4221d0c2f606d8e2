from kitd7 import *
signal.setitimer(signal.ITIMER_REAL, 2.5)
train(1000)
