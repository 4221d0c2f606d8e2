from kitd7 import *
role("main")
train(8)
os.kill(os.getpid(), signal.SIGKILL)
