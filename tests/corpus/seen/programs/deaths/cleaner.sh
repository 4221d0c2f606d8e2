# A cleaner that is no part of the job: kill -9 of what has a role, by a program that has ended before anybody asks
while ! grep -q "^$1 " "$CORPUS_ROLES" 2>/dev/null; do sleep 0.1; done
sleep 1.5
pid=$(awk -v r="$1" '$1 == r { print $2; exit }' "$CORPUS_ROLES")
sh -c 'echo "outsider $$" >>"$CORPUS_ROLES"; exec /bin/kill -'"${2:-KILL}"' '"$pid"
