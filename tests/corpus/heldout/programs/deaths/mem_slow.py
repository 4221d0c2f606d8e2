"""A slow leak beside steady work."""
from mem import *
role('main')
keep = block(250)
grow(20)
