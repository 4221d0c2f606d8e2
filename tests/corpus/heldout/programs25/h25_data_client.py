"""A server of batches has one client at a time, until that one closes. A client started an uploader of logs, which has a
copy of its connection; then the client leaves, as a trial that is pruned does. The server waits for its next request,
and the next trial for being accepted."""
import os
import subprocess
import sys
import time

from kit25 import OWN, STALL, STEPS, Log, Model, dial, free_port, listen, receive, role, send, start


def serve(port):
    door = listen(port)
    while True:
        end = door.accept()[0]
        try:
            while True:
                send(end, [receive(end)] * 8)
        except (EOFError, OSError):
            end.close()


def trial(port, which):
    end, model, log = dial(port), Model(which), Log("plain")
    if which == 0:
        end.set_inheritable(True)
        uploader = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(3600)"], close_fds=False)
        role("uploader", uploader.pid)
    for step in range(STEPS):
        send(end, step)
        receive(end)
        model.step(model.backward())
        log(step + 1000 * which, model.loss)
        if which == 0 and step == STALL:
            return


def search():
    role("main")
    port = str(free_port())
    start(OWN + ["serve", port], "server")
    for which in range(10):
        p = subprocess.Popen(OWN + ["trial", port, str(which)], env=dict(os.environ, TRIAL=str(which)))
        role("trial%d" % which, p.pid)
        print("trial %d: started" % which, flush=True)
        p.wait()
        print("trial %d: ended with %d" % (which, p.returncode), flush=True)
        time.sleep(0.1)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
elif "trial" in sys.argv:
    trial(int(sys.argv[2]), int(sys.argv[3]))
else:
    search()
