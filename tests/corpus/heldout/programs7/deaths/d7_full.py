from kitd7 import *
train(5)
with open("/dev/full", "wb", buffering=0) as f:
    f.write(bytes(4096))
