"""The words of torch.load on a cut off file."""
from job import *

train(0, 2)
raise RuntimeError("PytorchStreamReader failed reading zip archive: failed finding central directory")
