from kitd6 import *
epochs(6)
say("ERROR is below the target for 3 epochs, stopping")
print("saved best.ckpt")
