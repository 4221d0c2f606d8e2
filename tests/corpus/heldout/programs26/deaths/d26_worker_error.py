"""A worker of a DataLoader cannot read a sample."""
import torch

from kitd26 import fit, net, role, say, sgd


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, k):
        if k == 311:
            raise OSError("cannot identify image file 'train/0311.jpg'")
        return torch.randn(32)


role("main")
model = net()
optimizer = sgd(model)
for step, x in enumerate(torch.utils.data.DataLoader(Images(), 16, num_workers=2)):
    loss = fit(model, optimizer, x, x.sum(1, keepdim=True))
    if step % 5 == 0:
        say("step %d loss %.4f" % (step, loss))
