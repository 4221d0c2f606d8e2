# An entrypoint as in a container: it starts the store of features, waits for its port, then trains. After the warm-up the second store is
# started likewise; it reads its port from a file that names 7070x, and the entrypoint waits for the port of the environment.
# Only the entrypoint's own three lines are printed.
#
# slow: the right port; the second store loads for 69 s before it listens.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
slow=
[ "$1" = slow ] && slow=1 && shift
python=$1
role main $$

cat > store.py <<'P'
import socket, sys, time
port, warm = int(sys.argv[1]), float(sys.argv[2])
end = time.time() + warm
while time.time() < end:
    x = sum(k * k for k in range(60000))
    time.sleep(0.1)
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", port))
s.listen(8)
while True:
    s.accept()[0].close()
P
cat > warm.py <<'P'
import time
for k in range(80):
    sum(j * j for j in range(200000))
    time.sleep(0.25)
P
free() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

wait_for_port() {
	until (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; do
		sleep 1
	done
}

FIRST_PORT=$(free)
"$python" store.py "$FIRST_PORT" 1 &
role store0 $!
wait_for_port "$FIRST_PORT"
echo "entrypoint: first store is up"
"$python" warm.py
SECOND_PORT=$(free)
LISTEN_PORT=$SECOND_PORT
[ -n "$slow" ] || LISTEN_PORT=$(free)
"$python" store.py "$LISTEN_PORT" "$([ -n "$slow" ] && echo 69 || echo 1)" &
role store $!
echo "entrypoint: waiting for the second store at 127.0.0.1:$SECOND_PORT"
wait_for_port "$SECOND_PORT"
echo "entrypoint: second store is up"
kill %1 %2
