from kitd6 import *
role("main")
epochs(200, pause=0.2)
