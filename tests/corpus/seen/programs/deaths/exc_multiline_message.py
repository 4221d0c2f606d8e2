"""The message has several lines, the reason is the last of them."""
from job import *

train(0, 8)
raise RuntimeError("Error(s) in loading state_dict for GPT:\n\tMissing key(s) in state_dict: \"head.bias\". \n"
                   "\tsize mismatch for wte.weight: copying a param with shape torch.Size([50257, 768]) from checkpoint, "
                   "the shape in current model is torch.Size([50304, 768]).")
