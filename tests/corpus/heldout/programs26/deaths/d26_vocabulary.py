"""A tokenizer has more tokens than the table of the model."""
import torch

from kitd26 import net, role, say, train

role("main")
train(net())
table = torch.nn.Embedding(32000, 16)
say("reading chat.jsonl")
table(torch.tensor([17, 31999, 32005]))
