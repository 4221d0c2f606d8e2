"""A learner takes a rollout of each of three actors, then gives them new weights. A rollout of actor 1 was empty and is thrown away."""
import multiprocessing as mp

import kit7


def act(k, rollouts, news, version):
    kit7.with_parent()
    kit7.role("actor%d" % k)
    have = 0
    while True:
        kit7.crunch(0.2)
        rollouts.put((k, [] if k == 1 and have == 20 else [have] * 8))
        with news:
            news.wait_for(lambda: version.value > have)
            have = version.value


def learn(rollouts, news, version):
    while True:
        got = set()
        while len(got) < 3:
            k, rollout = rollouts.get()
            if rollout:
                got.add(k)
        kit7.crunch(0.1)
        with news:
            version.value += 1
            news.notify_all()
        print("| ep_rew_mean %8.2f | iterations %4d | fps 812 |" % (10 + version.value / 3, version.value), flush=True)


if __name__ == "__main__":
    kit7.role("main")
    rollouts, news, version = mp.Queue(), mp.Condition(), mp.Value("i", 0)
    for k in range(3):
        mp.Process(target=act, args=(k, rollouts, news, version), daemon=True).start()
    learn(rollouts, news, version)
