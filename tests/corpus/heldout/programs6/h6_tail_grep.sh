# A wrapper follows the log until the word "Finished". The trainer has ended and wrote "finished".
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
: > train.log
(
    note trainer $BASHPID
    for n in 1 2 3 4 5 6; do
        echo "epoch $n" >> train.log
        sleep 0.5
    done
    echo "training finished, best 0.913" >> train.log
) &
exec 9< <(exec setpriv --pdeathsig KILL tail -n +1 -f train.log)
note tail $!
while read -r line <&9; do
    echo "> $line"
    case $line in
    *Finished*) break ;;
    esac
done
echo "uploading"
