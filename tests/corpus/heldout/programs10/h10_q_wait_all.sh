# A long job and two short ones in the background, and the script waits for all.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
part() { note "part$1" $BASHPID; for k in 1 2 3; do echo "part $1: file $k"; sleep "$2"; done; }
note main $$
part 0 0.5 &
part 1 0.5 &
part 2 20 &
wait
echo "training"
