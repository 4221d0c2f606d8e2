import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(2)
raise RuntimeError("Error(s) in loading state_dict for GPT:\n\tMissing key(s) in state_dict: \"lm_head.weight\". \n"
                   "\tUnexpected key(s) in state_dict: \"head.weight\", \"head.bias\". \n"
                   "\tsize mismatch for wte.weight: copying a param with shape torch.Size([50257, 768]) from checkpoint, "
                   "the shape in current model is torch.Size([50304, 768]).")
