#!/bin/bash
# After training, a script starts a server for the evaluation and waits until its log says "Uvicorn running". The
# server of this version says "Application startup complete".
python=$1
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
for step in $(seq 0 5 60); do
    echo "step $step loss 1.$step"
    sleep 0.7
done
"$python" -c '
import ctypes, signal, socket
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
door = socket.create_server(("127.0.0.1", 0))
print("INFO: Application startup complete on port %d" % door.getsockname()[1], flush=True)
while True:
    door.accept()[0].close()
' > server.log 2>&1 &
role service $!
until grep -q "Uvicorn running" server.log; do
    sleep 1
done
echo "evaluating"
