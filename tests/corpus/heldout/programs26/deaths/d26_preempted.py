"""torchrun is ended from outside by SIGTERM."""
from kitd26 import net, role, torchrun, train

import os

if "TORCHELASTIC_RUN_ID" not in os.environ:
    role("main")
torchrun(2)
train(net(), 4000)
