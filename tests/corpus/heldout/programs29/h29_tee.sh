# A training whose log goes through tee to a file and into a FIFO for a board. The board reads lines and, at the first "WARN", waits for
# an acknowledgement in another FIFO, which it has open itself for writing as well: nobody writes it. Soon the FIFO is full, then tee stands,
# and the training at a print.
#
# slow: the board writes its own acknowledgement after 66 s of drawing.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
slow=
[ "$1" = slow ] && slow=1 && shift
python=$1
mkfifo board.fifo ack.fifo

board() {
	local lines=0
	exec 7<> ack.fifo
	while read -r line; do
		lines=$((lines + 1))
		case $line in
		*WARN*)
			echo "board: waiting for somebody to acknowledge" >&2
			if [ -n "$slow" ]; then
				for _ in $(seq 66); do
					i=0
					while [ $i -lt 9000 ]; do i=$((i + 1)); done
					sleep 0.93
				done
				echo ok >&7
			fi
			read -r _ <&7
			;;
		esac
	done
	echo "board: $lines lines"
}

board < board.fifo &
role board $!
cat > train.py <<'P'
import os, sys, time
steps = int(sys.argv[1])
with open(os.environ["CORPUS_ROLES"], "a") as f:
    f.write("main %d\n" % os.getpid())
for step in range(steps):
    end, x = time.time() + 0.03, 1.0
    while time.time() < end:
        x = x * 0.999 + 1
    time.sleep(0.2)
    for layer in range(12):
        print("step %05d layer %02d |g| %.6f |w| %.6f   %s" % (step, layer, 1 / (step + 1), x, "." * 200))
    if step == 30:
        print("WARN gradient norm is 41.2")
    sys.stdout.flush()
P
"$python" train.py "$([ -n "$slow" ] && echo 110 || echo 4000)" 2>&1 | tee train.log > board.fifo &
wait
