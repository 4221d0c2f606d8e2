"""A notebook's terminal: a shell-like leader on a pty starts two ranks as a job in the background. Rank 1 asks the person whether it may
overwrite an old run ("[y/N]") - a read of the terminal from the background, for which the kernel stops it with SIGTTIN. Rank 0
waits for it in a sum; the leader waits for both.

slow: nothing is asked; rank 1 copies the old run away for 65 s."""
import fcntl
import sys
import termios

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Star, busy, os, role, with_parent


def may_overwrite():
    with open("/dev/tty") as tty:
        print("runs/exp7 is there already. Overwrite? [y/N]", file=sys.stderr, flush=True)
        return tty.readline().strip() == "y"


def rank_body():
    rank = int(os.environ["RANK"])
    star, model, report = Star(rank, 2), Model(rank), Report("loss", rank)
    for step in range(STEPS):
        model.update(star.mean("g%d" % step, model.gradient()))
        if rank == 0:
            report(step, model.loss())
        if rank == 1 and step == STALL:
            if SLOW:
                busy(65)
            elif not may_overwrite():
                raise SystemExit("not overwritten")


def leader():
    ranks = []
    for r in range(2):
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            with_parent()
            os.environ.update(RANK=str(r), WORLD_SIZE="2", LOCAL_RANK=str(r))
            os.execv(sys.executable, OWN + sys.argv[1:-1] + ["rank"])
        role("rank%d" % r, pid)
        ranks.append(pid)
    codes = [os.waitpid(pid, 0)[1] for pid in ranks]
    raise SystemExit(1 if any(codes) else 0)


def terminal():
    role("main")
    master, slave = os.openpty()
    child = os.fork()
    if child == 0:
        with_parent()
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        os.close(master)
        os.dup2(slave, 0)
        os.execv(sys.executable, OWN + sys.argv[1:] + ["leader"])
    role("leader", child)
    os.close(slave)
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if sys.argv[-1] == "rank":
    rank_body()
elif sys.argv[-1] == "leader":
    leader()
else:
    terminal()
