from kitd7 import *
train(3)
sys.exit("error: checkpoint /ckpt/step_3000 was made by 8 ranks, 4 are here")
