"""Two shapes do not fit."""
from job import *
train(0, 40)
raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (32x512 and 768x10)')
