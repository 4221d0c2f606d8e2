from kitd7 import *


def flatten(tree):
    return [x for part in tree for x in flatten(part)]


train(3)
loop = []
loop.append(loop)
flatten(loop)
