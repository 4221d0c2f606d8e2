"""A gate refuses the model: status 3 by choice."""
from job import *

train(0, 20)
print("gate: accuracy 0.71 is below the target 0.75, model is not published", flush=True)
sys.exit(3)
