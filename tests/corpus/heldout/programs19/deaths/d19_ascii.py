"""A sample of the validation has a letter that the output, which is ASCII in that container, cannot have."""
from kitd19 import *

SAMPLES = ["the weather is fine", "we met at the caf\u00e9"]
told(30)
for sample in SAMPLES:
    print("sample: " + sample, flush=True)
told(30, 30)
