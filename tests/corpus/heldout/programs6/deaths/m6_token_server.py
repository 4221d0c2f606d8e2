from kitd6 import *
if sys.argv[1:]:
    role("server")
    door = socket.socket(socket.AF_UNIX)
    door.bind("tokens.sock")
    door.listen(5)
    s, seen = door.accept()[0], {}
    while s.recv(1):
        seen[len(seen)] = hold(3)
        s.sendall(b"k")
    sys.exit()
role("main")
weights = hold(200)
subprocess.Popen([sys.executable, __file__, "serve"])
while True:
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("tokens.sock")
        break
    except OSError:
        time.sleep(0.05)
for n in range(600):
    s.sendall(b"q")
    s.recv(1)
    steps(1, n, 0.1)
