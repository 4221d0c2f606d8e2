"""Two processes move rows between two tables, each table with a lock."""
import multiprocessing as mp

import kit4


def move(name, mine, other, turns):
    kit4.with_parent()
    kit4.role(name)
    for t in range(turns):
        with mine:
            kit4.crunch(0.2)
            if t >= 8:
                with other:
                    kit4.crunch(0.05)
        if t < 8:
            print(name, "turn", t, flush=True)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    users, items = context.Lock(), context.Lock()
    procs = [context.Process(target=move, args=a) for a in (("mover-a", users, items, 100), ("mover-b", items, users, 100))]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
