from kitd7 import *
role("main")
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
train(1000)
