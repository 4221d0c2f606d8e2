"""torchrun is told of two nodes. The second one's agent is not started, the first one's waits for it before it starts a
rank. "slow": the second one comes after 45 s."""
import os
import sys
import time

from kit13 import batch, free_port, join_group, role, start, train_step, trainer, with_parent


def agent(port, node):
    return [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend",
            "c10d", "--rdzv-id", "job13", "--rdzv-endpoint", "127.0.0.1:%s" % port, "--rdzv-conf",
            "join_timeout=7200,is_host=%d" % (node == 0), "--local-addr", "127.0.0.1", *sys.argv]


def train():
    with_parent()
    rank = int(os.environ["RANK"])
    role("rank%d" % rank)
    dist = join_group(rank, 2)
    model, optimizer = trainer()
    for step in range(30):
        loss = train_step(model, optimizer, *batch())
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


def main():
    role("launcher")
    port = free_port()
    os.environ["OMP_NUM_THREADS"] = "1"
    agents = [start(agent(port, 0), "agent0")]
    print("node 0 of 2: waiting for all nodes", flush=True)
    if "slow" in sys.argv:
        time.sleep(45)
        agents.append(start(agent(port, 1), "agent1"))
    sys.exit(max(abs(a.wait()) for a in agents))


if __name__ == "__main__":
    train() if "RANK" in os.environ else main()
