"""Two actors are ranks of a process group. The method of the second has raised, and its process lives on, as actors
do; the driver asks for the first one's result first, which waits for a gradient of the second."""
import os
import time

from kit12 import free_port, ray_here, role


def main():
    ray = ray_here(cpus=2)

    @ray.remote(num_cpus=1)
    class Trainer:
        def __init__(self, rank, n, port):
            import torch
            from kit12 import join_group, trainer
            role(f"trainer{rank}")
            torch.set_num_threads(1)
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(n))
            self.rank, self.dist = rank, join_group(rank, n)
            self.model, self.optimizer = trainer()

        def train(self, steps):
            from kit12 import batch, train_step
            labels = {i: i % 3 for i in range(25 if self.rank else 100)}
            for step in range(steps):
                loss = train_step(self.model, self.optimizer, *batch())
                time.sleep(0.01 * labels[step])
            return loss

    port = free_port()
    trainers = [Trainer.remote(rank, 2, port) for rank in range(2)]
    print("loss", ray.get([t.train.remote(15) for t in trainers]), flush=True)
    for result in [t.train.remote(60) for t in trainers]:
        print("loss", ray.get(result), flush=True)


if __name__ == "__main__":
    main()
