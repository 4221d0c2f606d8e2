"""A search for settings: a trial's error is told inside of the search's own."""
from kitd23 import steps


class TrialFailed(Exception):
    pass


def objective(warmup):
    steps(10, pause=0.08)
    return 1.0 / warmup


def search(settings):
    for number, warmup in enumerate(settings):
        try:
            print("trial %d value %.3f" % (number, objective(warmup)), flush=True)
        except ArithmeticError as error:
            raise TrialFailed("trial %d failed with parameters {'warmup': %d}" % (number, warmup)) from error


search([500, 100, 0, 50])
