"""A learner and two actors, one process each. Each actor plays four games with the weights that it has, hands them over
and waits for new ones. The learner takes eight games for an update; from update 30 on its schedule wants twelve, of
which only eight are played with these weights.

slow: it wants eight always, and one actor plays for 48 s."""
import multiprocessing

from kit20 import SLOW, busy, crunch, role, told, with_parent

GAMES = 4


def play(weights, k):
    crunch(0.06)
    return weights + k


def act(number, games, inbox):
    with_parent()
    role("actor%d" % number)
    while True:
        weights = inbox.recv()
        if weights is None:
            return
        if SLOW and number == 1 and weights == 30:
            busy(48)
        for k in range(GAMES):
            games.put(play(weights, k))


def collect(games, n):
    return [games.get() for _ in range(n)]


def learn():
    role("main")
    games, pipes = multiprocessing.Queue(), [multiprocessing.Pipe(False) for _ in range(2)]
    actors = [multiprocessing.Process(target=act, args=(n, games, end)) for n, (end, _) in enumerate(pipes)]
    for actor in actors:
        actor.start()
    for update in range(60 if SLOW else 400):
        for _, end in pipes:
            end.send(update)
        collect(games, 12 if update >= 30 and not SLOW else 8)
        told(update)
    for _, end in pipes:
        end.send(None)
    for actor in actors:
        actor.join()


if __name__ == "__main__":
    learn()
