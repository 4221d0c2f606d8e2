# A script pretrains with two ranks, one for each device of a list, and tunes then. The settings of the tuning are those
# of a larger machine and say three ranks; one is started for each device still. Rank 0 waits for rank 2 to join.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
cat > train.py <<'PROGRAM'
import os, socket, sys, time

rank, world, steps = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(sys.argv[1])


def rendezvous():
    """Rank 0 has a connection to each other one."""
    path = "meet-%d" % steps
    if rank == 0:
        door = socket.socket(socket.AF_UNIX)
        door.bind(path)
        door.listen(8)
        return [door.accept()[0] for _ in range(world - 1)]
    end = socket.socket(socket.AF_UNIX)
    while not os.path.exists(path):
        time.sleep(0.1)
    time.sleep(0.1)
    end.connect(path)
    return [end]


def meet(ends):
    for end in ends if rank == 0 else []:
        end.recv(1)
    for end in ends:
        end.sendall(b"x")
    for end in ends if rank else []:
        end.recv(1)


ends = rendezvous()
for step in range(steps):
    time.sleep(0.2)
    meet(ends)
    if rank == 0 and step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)
PROGRAM
stage() {
	ranks=
	for device in 0 1; do
		RANK=$device WORLD_SIZE=$1 DEVICE=$device "$2" train.py "$3" &
		role rank$device $!
		ranks="$ranks $!"
	done
	wait $ranks
}
stage 2 "$1" 45
echo "tuning begins"
stage 3 "$1" 100
