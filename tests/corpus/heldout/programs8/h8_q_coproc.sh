# bash sends texts to a scorer and reads a score for each; the scorer loads a larger model for 63 s before text 20.
coproc SCORER { exec "$1" -c '
import sys, time
for line in sys.stdin:
    if int(line.split()[1]) == 20:
        end, x = time.time() + 63, 1
        while time.time() < end:
            x = x * 3 % 1000003
    print(len(line) / 10, flush=True)
'; }
for n in $(seq 0 35); do
	echo "text $n the model likes this" >&"${SCORER[1]}"
	read -r score <&"${SCORER[0]}"
	echo "scored $n: $score"
	sleep 0.2
done
