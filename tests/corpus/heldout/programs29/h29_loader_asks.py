"""A training with PyTorch's DataLoader and one worker. The dataset asks main for words that its vocabulary lacks, over a pair of queues;
main answers such questions between two steps. The first document with such a word is long: what was read ahead is used up when the
question comes, main is in next() and the worker in its question.

slow: the vocabulary is whole; a document of the worker takes 69 s."""
import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

from kit29 import SLOW, STALL, STEPS, Report, busy, crunch, role, with_parent


class Words(Dataset):
    def __init__(self, questions, answers):
        self.questions, self.answers = questions, answers
        self.vocabulary = set(range(STALL))

    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        if index == 0:
            with_parent()
            role("loader")
        if SLOW:
            if index == STALL:
                busy(69)
        elif index not in self.vocabulary:
            crunch(3)
            self.questions.put(index)
            self.vocabulary.add(self.answers.get())
        return torch.full((8,), 0.01 * index)


def main():
    role("main")
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    questions, answers = context.Queue(), context.Queue()
    loader = DataLoader(Words(questions, answers), batch_size=1, num_workers=1, prefetch_factor=2)
    weight, report = torch.zeros(8), Report("epoch")
    for step, batch in enumerate(loader):
        while not questions.empty():
            answers.put(questions.get())
        crunch(0.25)
        weight -= 0.001 * (weight - batch[0])
        report(step, float(weight.norm()))
        if step == STALL:
            print("vocabulary: %d words were asked for" % (step - STALL + 1), flush=True)


main()
