"""A head was exchanged for one of another width."""
import torch

from kitd26 import batches, net, role, train

role("main")
model = net()
train(model)
model[2] = torch.nn.Linear(48, 1)
train(model, 5, 15)
