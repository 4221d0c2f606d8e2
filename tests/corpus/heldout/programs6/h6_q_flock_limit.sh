# A second script waits at most 90 s for a lock; its holder uploads in pieces for 65 s, and sleeps between them.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
(
    note holder $BASHPID
    flock 9
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
        sleep 5
        echo "$n" >> pieces.txt
    done
) 9> model.lock &
for n in 1 2 3 4 5; do
    echo "part $n"
    sleep 0.5
done
flock -w 90 model.lock echo "has the lock" || exit 1
wait
echo done
