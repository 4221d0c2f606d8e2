"""The shell of a helper said Killed hours ago."""
from job import *

print("prepare.sh: line 3:  4711 Killed                  ./pack --all", file=sys.stderr, flush=True)
train(0, 150, 0.003)
raise TypeError("unsupported operand type(s) for +: 'NoneType' and 'float'")
