"""A learner waits for the rollouts of three actors; actor 1 has an episode of a robot that takes 66 s of real time."""
import multiprocessing as mp
import time

import kit7


def act(k, rollouts, news, version):
    kit7.with_parent()
    kit7.role("actor%d" % k)
    for have in range(20):
        kit7.crunch(0.2)
        if k == 1 and have == 12:
            for _ in range(660):
                time.sleep(0.1)
        rollouts.put(k)
        with news:
            news.wait_for(lambda: version.value > have)


if __name__ == "__main__":
    kit7.role("main")
    rollouts, news, version = mp.Queue(), mp.Condition(), mp.Value("i", 0)
    actors = [mp.Process(target=act, args=(k, rollouts, news, version)) for k in range(3)]
    for p in actors:
        p.start()
    for n in range(20):
        for _ in range(3):
            rollouts.get()
        with news:
            version.value += 1
            news.notify_all()
        print("| ep_rew_mean %8.2f | iterations %4d | fps 812 |" % (10 + n / 3, n + 1), flush=True)
    for p in actors:
        p.join()
