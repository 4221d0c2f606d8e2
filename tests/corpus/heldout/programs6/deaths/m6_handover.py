from kitd6 import *
import multiprocessing as mp
def stage(k, mine, other):
    role(f"stage{k}")
    for turn in range(6):
        mine.acquire()
        data = hold(230)
        print("stage", k, "turn", turn, len(data) >> 20, "MiB", flush=True)
        time.sleep(0.7)
        del data
        other.release()
if __name__ == "__main__":
    role("main")
    a, b = mp.Semaphore(1), mp.Semaphore(0)
    ps = [mp.Process(target=stage, args=x) for x in ((0, a, b), (1, b, a))]
    for p in ps: p.start()
    for p in ps: p.join()
