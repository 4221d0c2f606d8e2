from kitd6 import *
if sys.argv[1] == "group":
    names = sys.argv[3:]
    role("outsider")
    end = time.time() + 30
    while not os.path.exists(os.environ["CORPUS_ROLES"]) or sys.argv[2] not in open(os.environ["CORPUS_ROLES"]).read():
        assert time.time() < end
        time.sleep(0.05)
    pid = int(next(r.split()[1] for r in open(os.environ["CORPUS_ROLES"]) if r.startswith(sys.argv[2] + " ")))
    time.sleep(2)
    for n in names:
        os.killpg(os.getpgid(pid), getattr(signal, "SIG" + n))
        time.sleep(1)
elif sys.argv[1] == "limit":
    role("outsider")
    end, pid = time.time() + 30, None
    while pid is None and time.time() < end:
        try:
            pid = next((int(r.split()[1]) for r in open(os.environ["CORPUS_ROLES"]) if r.startswith(sys.argv[2] + " ")), None)
        except OSError:
            pass
        time.sleep(0.05)
    time.sleep(2)
    resource.prlimit(pid, resource.RLIMIT_CPU, (2, 60))
    time.sleep(4)
else:
    send_signals(sys.argv[1], sys.argv[2:])
