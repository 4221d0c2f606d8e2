"""A crash in C of a program that prints its stacks when it crashes."""
import faulthandler

from kitd16 import *

faulthandler.enable()


def fused_attention():
    fault()


told(30)
fused_attention()
