"""A process scores a model and puts all its answers into a queue at the end. The parent waits for its end before it
reads them."""
import time

import torch
import torch.multiprocessing as mp

from kit12 import batch, net, role, with_parent


def score(answers, epochs):
    with_parent()
    role("scorer")
    torch.set_num_threads(1)
    model, kept = net(), []
    for epoch in range(epochs):
        for _ in range(10):
            time.sleep(0.1)
            with torch.no_grad():
                kept.append(model(batch(2048)[0]).numpy().repeat(8))
        print("scored epoch", epoch, flush=True)
    answers.put(kept)


def main():
    role("main")
    context = mp.get_context("spawn")
    answers = context.Queue()
    scorer = context.Process(target=score, args=(answers, 6))
    scorer.start()
    scorer.join()
    print("mean", sum(a.mean() for a in answers.get()), flush=True)


if __name__ == "__main__":
    main()
