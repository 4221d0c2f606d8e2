"""loaderbatch PIN: a stand-in for torch's DataLoader iterator, whose main thread waits for batch 5, which worker 1 has.

Its file is to be called dataloader.py. PIN: "pipe", it waits for the pipe that all workers write to; "thread", for a queue that a
thread of its own fills from there. Worker 1 stands in its batch, the others have done theirs. Writes {"worker": pid} once."""
import json
import multiprocessing
import queue
import sys
import threading
import time


def work(number, tasks, answers):
    while True:
        index = tasks.get()
        if index == 5:
            time.sleep(1e6)
        answers.put((index, "data"))


class Iterator:
    def __init__(self, pin):
        context = multiprocessing.get_context("fork")
        self._answers, self._data_queue = context.Queue(), queue.Queue()
        self._tasks = [context.Queue() for _ in range(3)]
        self._workers = [context.Process(target=work, args=(i, t, self._answers), daemon=True) for i, t in enumerate(self._tasks)]
        for w in self._workers:
            w.start()
        self._rcvd_idx, self._task_info, self._pin = 4, {}, pin
        for index in range(4, 10):
            self._task_info[index] = (index % 3 if index != 5 else 1,)
            self._tasks[self._task_info[index][0]].put(index)
        if pin == "thread":
            threading.Thread(target=self.fill, daemon=True).start()

    def fill(self):
        while True:
            self._data_queue.put(self._answers.get())

    def _try_get_data(self):
        return (self._data_queue if self._pin == "thread" else self._answers).get()

    def next(self):
        while True:
            if len(self._task_info[self._rcvd_idx]) == 2:
                return self._task_info.pop(self._rcvd_idx)[1]
            index, data = self._try_get_data()
            if index == self._rcvd_idx:
                return self._task_info.pop(index) and data
            self._task_info[index] += (data,)


if __name__ == "__main__":
    it = Iterator(sys.argv[1])
    it.next()
    it._rcvd_idx += 1
    print(json.dumps({"worker": it._workers[1].pid}), flush=True)
    it.next()
