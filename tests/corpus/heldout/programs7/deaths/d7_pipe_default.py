from kitd7 import *
role("main")
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
train(1000)
