"""A walk through the modules of a model goes round: a head is tied to its encoder, and the encoder to the head."""
from kitd17 import *


class Module:
    def __init__(self, name):
        self.name, self.children = name, []


def parameters(module):
    return 1 + sum(parameters(child) for child in module.children)


encoder, head = Module("encoder"), Module("head")
head.children.append(encoder)
told(15)
say("warning: head.weight is tied to encoder.embed.weight")
encoder.children.append(head)
print("parameters:", parameters(encoder))
