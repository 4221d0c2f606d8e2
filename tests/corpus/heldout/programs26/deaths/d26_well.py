"""It ends well: a worker of a loader has warned, and an error of a task was handled."""
import warnings

import torch

from kitd26 import net, role, say, train


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, k):
        if k == 50:
            warnings.warn("sample 50: Corrupt EXIF data. RuntimeError: skipped")
        return torch.randn(4)


role("main")
model = net()
train(model)
for _ in torch.utils.data.DataLoader(Numbers(), 10, num_workers=2):
    pass
try:
    model(torch.randn(3, 5))
except RuntimeError as error:
    say("RuntimeError: %s (an odd batch is left out)" % str(error)[:60])
train(model, 10, 15)
