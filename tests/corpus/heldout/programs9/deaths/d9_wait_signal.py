from kitd9 import *

role("main")
batches(400)
