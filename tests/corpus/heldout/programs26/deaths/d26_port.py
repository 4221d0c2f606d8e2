"""The port of the rendezvous is taken."""
import os
import socket

from kitd26 import net, role, train

role("main")
train(net())
other = socket.socket()
other.bind(("127.0.0.1", 0))
other.listen()
import torch.distributed as dist  # noqa: E402

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(other.getsockname()[1]))
dist.init_process_group("gloo", rank=0, world_size=1)
