"""Rank 0 pauses after a warm-up until an operator sends SIGUSR1."""
import signal

import kit4


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    for i in range(500):
        kit4.crunch(0.25)
        hub.reduce(0.2)
        if rank == 0:
            print("step %d" % i, flush=True)
            if i == 11:
                print("warm-up is over, send SIGUSR1 to go on", flush=True)
                signal.sigwait([signal.SIGUSR1])


kit4.main(4, train)
