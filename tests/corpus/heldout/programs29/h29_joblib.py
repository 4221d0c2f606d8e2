"""Feature extraction by joblib with threads, two at once, under a lock for the cache of each subject; the inner extraction, also by joblib,
takes the same lock for the subject's parts. While the cache was warm nobody came there; the first cold subject stops in itself.

slow: the inner one does not take it; a subject takes 68 s."""
import threading

from joblib import Parallel, delayed

from kit29 import SLOW, STALL, STEPS, Report, busy, crunch, role

LOCK = threading.Lock()
CACHE = {}


def part(subject, k):
    crunch(0.1)
    if SLOW:
        if subject == STALL // 2 and k == 0:
            busy(68)
        return 0.1 * k
    with LOCK:
        return CACHE.setdefault((subject, k), 0.1 * k)


def parts(subject):
    return Parallel(n_jobs=2, prefer="threads")(delayed(part)(subject, k) for k in range(3))


def extract(subject):
    if subject < STALL // 2 and not SLOW:
        crunch(0.5)
        return 0.3
    with LOCK:
        return sum(parts(subject))


def main():
    role("main")
    report = Report("loss", each=2)
    for begin in range(0, STEPS // 2, 2):
        values = Parallel(n_jobs=2, prefer="threads")(delayed(extract)(s) for s in (begin, begin + 1))
        report(begin, sum(values))


main()
