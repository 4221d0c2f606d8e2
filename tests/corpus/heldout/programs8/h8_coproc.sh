# bash sends texts to a scorer and reads a score for each. The scorer prints without flushing when it has changed its mode.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >>"$CORPUS_ROLES"; }
note main $$
coproc SCORER { exec "$1" -c '
import sys
for line in sys.stdin:
    number = int(line.split()[1])
    print(len(line) / 10, flush=number < 15)
'; }
note scorer "$SCORER_PID"
for n in $(seq 0 500); do
	echo "text $n the model likes this" >&"${SCORER[1]}"
	read -r score <&"${SCORER[0]}"
	echo "scored $n: $score"
	sleep 0.2
done
