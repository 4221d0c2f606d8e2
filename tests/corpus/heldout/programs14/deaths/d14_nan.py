"""The loss is not finite, which the trainer does not go on with."""
from kitd14 import *

told(60)
print("step 60 loss nan", flush=True)
sys.exit("Loss is nan, stopping training")
