import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(10)
class CellExecutionError(Exception): pass
CellExecutionError.__module__ = "nbclient.exceptions"
raise CellExecutionError("""An error occurred while executing the following cell:
------------------
trainer = Trainer(modle, args)
trainer.train()
------------------

---------------------------------------------------------------------------
NameError                                 Traceback (most recent call last)
Cell In[7], line 1
----> 1 trainer = Trainer(modle, args)
      2 trainer.train()

NameError: name 'modle' is not defined
""")
