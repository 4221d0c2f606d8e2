from kitd7 import *
train(6)
print("global_step: 6 - loss: nan - grad_norm: nan", flush=True)
raise FloatingPointError("loss is nan at step 6")
