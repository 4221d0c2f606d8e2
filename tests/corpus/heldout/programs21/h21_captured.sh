# A script trains and starts a service by another script, whose output it takes by $(...): the port that the service has.
# The service inherits the output, so it has no end while the service lives.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
for ((step = 0; step < 40; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step loss 0.$((900 - step))"
done
cat > service.py <<'PROGRAM'
import socket
door = socket.socket()
door.bind(("127.0.0.1", 0))
door.listen(5)
open("service.port", "w").write(str(door.getsockname()[1]))
while True:
    end, _ = door.accept()
    end.sendall(b"pong")
    end.close()
PROGRAM
cat > service.sh <<'SCRIPT'
"$1" service.py &
echo "service $!" >> "${CORPUS_ROLES:-roles}"
until [ -s service.port ]; do sleep 0.1; done
cat service.port
SCRIPT
port=$(bash service.sh "$1")
echo "the service is at $port"
for ((step = 40; step < 80; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step loss 0.$((900 - step))"
done
