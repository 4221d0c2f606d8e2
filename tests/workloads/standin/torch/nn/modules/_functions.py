import torch.distributed as dist


class SyncBatchNorm:
    @staticmethod
    def forward(size):
        return dist.all_gather(size=size)
