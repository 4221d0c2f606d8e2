# A script ignores SIGTERM, with which the batch system warns of its end. So does all that it starts: at the end of the
# training it ends its server of metrics by SIGTERM and waits for it, and the server serves on.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
trap '' TERM
cat > train.py <<'PROGRAM'
import time
for step in range(45):
    time.sleep(0.2)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))
PROGRAM
cat > metrics.py <<'PROGRAM'
import socket
door = socket.create_server(("127.0.0.1", 0))
while True:
    link, _ = door.accept()
    link.sendall(b"HTTP/1.0 200 OK\r\n\r\nup 1\n")
    link.close()
PROGRAM
"$1" metrics.py &
server=$!
role server $server
"$1" -u train.py
kill $server
wait $server
echo "finished"
