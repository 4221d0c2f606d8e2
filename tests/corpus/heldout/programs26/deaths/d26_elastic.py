"""torchrun with two ranks; rank 1 finds a tensor without a gradient."""
from kitd26 import RANK, net, torchrun, train

torchrun(2)
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(net())
train(model)
if RANK == 1:
    with torch.no_grad():
        frozen = model(torch.randn(4, 32)).mean()
    frozen.backward()
train(model, 200, 15)
