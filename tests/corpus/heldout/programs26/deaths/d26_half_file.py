"""A checkpoint is only half there."""
import os

import torch

from kitd26 import net, role, say, train

role("main")
model = net()
train(model)
torch.save(model.state_dict(), "step-15.pt")
os.truncate("step-15.pt", os.path.getsize("step-15.pt") // 2)
say("resuming from step-15.pt")
torch.load("step-15.pt")
