#!/bin/bash
# At most three conversions at once: a FIFO has three tokens, who has ended puts its token back. One that fails ends before it does so; after three of these
# the script waits for a token.
echo "main $$" >> "${CORPUS_ROLES:-/dev/null}"
mkfifo tokens
exec 9<> tokens
printf 'ttt' >&9

convert() {
	set -e
	sleep 0.4
	[ $(($1 % 7)) -ne 6 ]
	echo "part-$1 converted"
	printf 't' >&9
}

for part in $(seq 60); do
	read -r -n 1 -u 9 _
	(convert "$part") &
done
wait
echo "all parts"
