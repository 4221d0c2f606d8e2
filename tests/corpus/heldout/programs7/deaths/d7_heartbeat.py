from kitd7 import *
if sys.argv[1:]:
    train(8)
    time.sleep(100)
child = subprocess.Popen([sys.executable, "-u", __file__, "child"], stdout=subprocess.PIPE, text=True)
role("trainer", child.pid)
lines = queue.Queue()
threading.Thread(target=lambda: [lines.put(x) for x in child.stdout], daemon=True).start()
while True:
    try:
        print("supervised:", lines.get(timeout=3), end="", flush=True)
    except queue.Empty:
        say("supervisor: no heartbeat from the trainer for 3 s, killing it")
        child.kill()
        child.wait()
        sys.exit(75)
