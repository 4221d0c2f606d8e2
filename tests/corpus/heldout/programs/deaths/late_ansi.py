"""The traceback is coloured and drawn with boxes, as rich does it."""
from job import *

train(0, 20)
sys.stderr.write("\x1b[31m╭─\x1b[0m\x1b[31m──── \x1b[0m\x1b[1;31mTraceback \x1b[0m\x1b[1;2;31m(most recent call last)\x1b[0m\x1b[31m ────\x1b[0m\x1b[31m─╮\x1b[0m\n"
                 "\x1b[31m│\x1b[0m train.py:88 in main \x1b[31m│\x1b[0m\n\x1b[31m╰────────────────╯\x1b[0m\n\x1b[1;91mValueError: \x1b[0mprompt template has no slot \x1b[32m'question'\x1b[0m\n")
sys.exit(1)
