from kitd6 import *
links = joined(3)
for e in range(1, 60):
    if RANK == 0:
        epochs(1, e, 0)
    time.sleep(0.2)
    if (RANK, e) == (2, 9):
        raise LookupError("no tokenizer for language 'yue'")
    try:
        exchange(links)
    except OSError as error:
        if RANK == 1:
            sys.exit(0)
        time.sleep(0.2)
        raise RuntimeError("all_reduce failed, is a peer gone?") from error
