from kitd7 import *
role("main")
train(1000)
