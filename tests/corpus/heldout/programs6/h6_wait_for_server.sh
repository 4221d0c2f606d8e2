# A script starts a page of metrics in the background, trains, and then waits for all its children.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
setpriv --pdeathsig KILL "$1" -m http.server 0 --bind 127.0.0.1 > page.log 2>&1 &
note page $!
for part in 0 1; do
    (
        for n in $(seq 1 12); do
            echo "part $part epoch $n"
            sleep 0.4
        done
    ) &
done
wait
echo "uploading the model"
