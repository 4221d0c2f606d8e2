# An entrypoint starts the service of metrics, trains, and ends the service by SIGINT, as one would at a
# keyboard. What a script starts in the background ignores SIGINT, and the script waits for it. "slow": it is
# ended by SIGTERM, upon which it takes 45 s to hand on what it has.
py="${@: -1}"
here="$(dirname "$0")"
[ -n "$CORPUS_ROLES" ] && echo "main $$" >> "$CORPUS_ROLES"
"$py" "$here/h13_entrypoint.py" service &
service=$!
"$py" "$here/h13_entrypoint.py" train || exit 1
echo "entrypoint: training done, stopping the metrics service"
if [ "$1" = slow ]; then kill -TERM $service; else kill -INT $service; fi
wait $service
echo "entrypoint: bye"
