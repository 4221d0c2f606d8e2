from kitd7 import *
role("main")


def save(number, frame):
    say("got signal %d, checkpoint is written" % number)
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
train(1000)
