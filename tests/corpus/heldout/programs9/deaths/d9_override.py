from kitd9 import *

steps(4)
say("Could not override 'optim.lrr'.\nTo append to your config use +optim.lrr=3e-4\nKey 'lrr' is not in struct\n    full_key: optim.lrr\n    object_type=dict")
say("\nSet HYDRA_FULL_ERROR=1 for a complete stack trace.")
sys.exit(1)
