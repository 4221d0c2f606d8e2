"""Two tokenizers put rows into a queue of 8. Their writer has reached its limit of rows, said nothing and left with 0."""
import multiprocessing as mp

import kit7


def tokenize(k, rows):
    kit7.with_parent()
    kit7.role("tokenizer%d" % k)
    for n in range(10**6):
        kit7.crunch(0.15)
        rows.put("x" * 100)
    rows.close()


def write(rows):
    kit7.with_parent()
    kit7.role("writer")
    with open("rows.jsonl", "w") as f:
        for n in range(60):
            f.write(rows.get() + "\n")
            print("wrote row", n, flush=True)


if __name__ == "__main__":
    kit7.role("main")
    rows = mp.JoinableQueue(8)
    makers = [mp.Process(target=tokenize, args=(k, rows)) for k in range(2)]
    for p in [*makers, mp.Process(target=write, args=(rows,))]:
        p.start()
    for p in makers:
        p.join()
