from kitd9 import *

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
child = subprocess.Popen(["head", "-n", "20"], stdin=subprocess.PIPE, text=True)
for k in range(2000):
    child.stdin.write("sample %d\n" % k)
    child.stdin.flush()
    time.sleep(0.05)
