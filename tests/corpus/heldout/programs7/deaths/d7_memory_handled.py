from kitd7 import *
resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))
train(3)
try:
    bytearray(2 << 30)
except MemoryError:
    traceback.print_exc()
    say("batch 512 does not fit, going on with 128")
train(4, 3)
{"input_ids": 1}["labels"]
