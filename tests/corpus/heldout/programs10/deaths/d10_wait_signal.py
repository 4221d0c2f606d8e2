from kitd10 import *

role("main")
epochs(400)
