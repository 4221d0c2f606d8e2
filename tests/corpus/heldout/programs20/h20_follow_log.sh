# Behind its training a script starts a server of the model and waits until its log says that it is ready: by a small
# follower of logs, out of which grep takes the first such line. grep ends with it; the follower would know that only when
# it writes the next line, and there is none.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
cat > train.py <<'PROGRAM'
import time
for step in range(45):
    time.sleep(0.2)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
PROGRAM
cat > serve.py <<'PROGRAM'
import socket, time
print("loading weights", flush=True)
time.sleep(2)
door = socket.create_server(("127.0.0.1", 0))
print("ready on port %d" % door.getsockname()[1], flush=True)
while True:
    link, _ = door.accept()
    link.sendall(b"0.9\n")
    link.close()
PROGRAM
cat > follow.py <<'PROGRAM'
import sys, time
with open(sys.argv[1]) as log:
    while True:
        line = log.readline()
        if line:
            sys.stdout.write(line)
            sys.stdout.flush()
        else:
            time.sleep(0.2)
PROGRAM
"$1" -u train.py
"$1" serve.py > serve.log &
server=$!
role server $server
sleep 0.5
(role follower $BASHPID; exec "$1" follow.py serve.log) | grep -m1 "ready on port"
echo "evaluation begins"
kill $server
