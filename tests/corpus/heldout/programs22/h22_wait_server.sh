# A script makes its data, starts a server for a model and waits until the server's socket is there, then it asks it. The server
# fails while it loads the model, in its own log; the script looks for the socket for ever.
#
# slow (as $1): the server loads for 48 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
python=${!#}
for ((step = 0; step < 30; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step prompts $((step * 64))"
done
"$python" - "$1" > server.log 2>&1 <<'P' &
import json, socket, sys, time
time.sleep(48 if sys.argv[1] == "slow" else 2)
config = json.loads('{"layers": 24, "heads": 16}' if sys.argv[1] == "slow" else '{"layers": 24, "heads": 16')
s = socket.socket(socket.AF_UNIX)
s.bind("model.sock")
s.listen()
s.accept()[0].sendall(b"answer of %d layers\n" % config["layers"])
P
role server $!
wait_for_server() {
	until [ -S model.sock ]; do
		sleep 1
	done
}
wait_for_server
"$python" -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("model.sock"); print(s.recv(99).decode())'
