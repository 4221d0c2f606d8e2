"""Samples are tokenized by three processes, and written in their order by another one. At most six are on their way; who
feeds takes one of six places for each, the writer gives it back. A process that has to try a sample again takes a place
for it once more: all are taken by samples that are to be written behind it."""
import multiprocessing

from kit24 import crunch, role, told, with_parent


def tokenize(places, tasks, tokens):
    with_parent()
    while True:
        sample, trial = tasks.get()
        crunch(0.2)
        if sample == 80 and trial == 0:
            crunch(2)
            role("retrier")
            try_again(places, tasks, sample)
        else:
            tokens.put(sample)


def try_again(places, tasks, sample):
    places.acquire()
    tasks.put((sample, 1))


def write_in_order(places, tokens):
    with_parent()
    role("writer")
    early, due = set(), 0
    while True:
        early.add(tokens.get())
        while due in early:
            early.remove(due)
            told(due, 0)
            places.release()
            due += 1


def feed(places, tasks):
    for sample in range(4000):
        places.acquire()
        tasks.put((sample, 0))


role("main")
context = multiprocessing.get_context("fork")
places, tasks, tokens = context.Semaphore(6), context.SimpleQueue(), context.SimpleQueue()
for _ in range(3):
    context.Process(target=tokenize, args=(places, tasks, tokens), name="tokenizer", daemon=True).start()
context.Process(target=write_in_order, args=(places, tokens), name="writer", daemon=True).start()
feed(places, tasks)
