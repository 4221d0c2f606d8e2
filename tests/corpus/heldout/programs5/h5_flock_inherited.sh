# A nightly sync locks the data set and starts a daemon, which keeps the lock's descriptor. The training wants the lock.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note launcher $$
(
    flock 9
    echo "syncing data"
    sleep 1
    "$1" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
s.accept()' > /dev/null 2>&1 &
    note daemon $!
    echo "synced"
    sleep 1
) 9> data.lock
for n in 1 2 3; do
    echo "epoch $n"
    sleep 0.7
done
exec 8> data.lock
flock 8
echo "training"
