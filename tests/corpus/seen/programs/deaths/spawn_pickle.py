"""A lambda cannot be sent to a spawned worker."""
from job import *

train(0, 5)
pickle.dumps(lambda x: x)
