from torch.utils.tensorboard.writer import SummaryWriter
