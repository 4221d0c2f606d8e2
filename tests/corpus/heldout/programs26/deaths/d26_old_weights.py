"""Weights of another version of the model are loaded."""
import torch

from kitd26 import net, role, train

role("main")
model = net()
train(model)
torch.save({"encoder." + k: v for k, v in model.state_dict().items()}, "best.pt")
net().load_state_dict(torch.load("best.pt"))
