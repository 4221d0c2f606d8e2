# A coprocess that scales numbers; awk keeps its lines back while it writes to a pipe.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
for n in 1 2 3 4 5; do
    echo "checking input $n"
    sleep 0.5
done
coproc setpriv --pdeathsig KILL awk '{ print $1 * 2 }'
note awk "$COPROC_PID"
for n in 1 2 3 4 5; do
    echo "$n" >&"${COPROC[1]}"
    read -r x <&"${COPROC[0]}"
    echo "scaled $x"
done
