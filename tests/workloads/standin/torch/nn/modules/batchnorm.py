from torch.nn.modules import _functions


class SyncBatchNorm:
    def forward(self, size):
        return _functions.SyncBatchNorm.forward(size)
