"""The words of safetensors on a cut off file."""
from job import *

class SafetensorError(Exception):
    pass
train(0, 2)
raise SafetensorError("Error while deserializing header: MetadataIncompleteBuffer")
