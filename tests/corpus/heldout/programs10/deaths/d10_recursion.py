import copy

from kitd10 import *


class Node:
    child = None


epochs(5)
top = node = Node()
for _ in range(3000):
    node.child = Node()
    node = node.child
copy.deepcopy(top)
