# Workers meet by a counter in a redis-server of their own, a key that lives for 20 s. Worker 2 comes after 30 s once: its count
# begins with one, and all look for three.
#
# slow: the key lives for an hour, and worker 2 comes after 68 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
if [ -n "$RANK" ]; then
	ask() { redis-cli -s "$PWD/redis.sock" "$@"; }
	for ((step = 0; step < (slow ? 70 : 3000); step++)); do
		sleep 0.3
		if ((step % 10 == 0)); then
			life=20 late=30
			((!slow)) || life=3600 late=68
			((step != 50 || RANK != 2)) || sleep $late
			ask INCR "meet:$step" > /dev/null
			ask EXPIRE "meet:$step" $life > /dev/null
			until [ "$(ask GET "meet:$step")" = 3 ]; do sleep 1; done
		fi
		((step % 5 || RANK)) || echo "worker $RANK step $step"
	done
	exit 0
fi
role launcher $$
export slow=0
[ "$1" != slow ] || slow=1
redis-server --port 0 --unixsocket "$PWD/redis.sock" --save "" --daemonize no > redis.log &
role redis $!
redis=$!
until [ -S redis.sock ]; do sleep 0.1; done
for r in 0 1 2; do
	RANK=$r WORLD_SIZE=3 bash "$0" &
	role "rank$r" $!
	pids+=($!)
done
wait "${pids[@]}"
kill $redis
wait $redis
