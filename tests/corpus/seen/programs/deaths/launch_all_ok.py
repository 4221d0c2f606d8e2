"""All is well under the launcher."""
from job import *
train(0, 30)
