# A script trains, starts a server for the evaluation, and asks its port until it answers. The server takes its port from a
# file of settings, the script has the number in it still that was the default before: nobody listens there.
# With "slow" the server listens at that port, after 48 s in which it loads its weights.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
python=${!#}
slow=${2:+48}
for ((step = 0; step < 40; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step loss 0.$((900 - step))"
done
cat > server.py <<'PROGRAM'
import http.server, sys, time
time.sleep(float(sys.argv[2]))
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
PROGRAM
free() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
asked=$(free)
settings=$asked
[ -n "$slow" ] || settings=$(free)
"$python" server.py "$settings" "${slow:-1}" > server.log 2>&1 &
server=$!
role server $server
until (echo > "/dev/tcp/127.0.0.1/$asked") 2> refused.log; do
	sleep 0.5
done
echo "the server is there"
for ((step = 40; step < 60; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step loss 0.$((900 - step))"
done
kill $server
