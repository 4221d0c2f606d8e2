import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import pickle
steps(15)
class Node:
    def __init__(self, next): self.next = next
n = None
for i in range(5000):
    n = Node(n)
pickle.dumps(n)
