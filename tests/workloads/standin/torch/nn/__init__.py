from torch.nn.modules.batchnorm import SyncBatchNorm
