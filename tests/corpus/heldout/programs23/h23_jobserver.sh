# Data are prepared by make -j2. The last step is a tool that takes places of make's jobserver for as many processes as
# it is told to use, four; there is one. It waits for more, make waits for it.
#
# slow (as $1): the tool takes one place, and compiles an index for 60 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
python=${!#}
here=$(dirname "$0")
places=3
[ "$1" != slow ] || places=1
{
	echo "all: index"
	shards=
	for k in {0..39}; do
		printf 'shard-%s:\n\t@sleep 0.35; [ $$((%s %% 5)) != 0 ] || echo step %s loss 0.5; touch $@\n' $k $k $k
		shards="$shards shard-$k"
	done
	printf 'index:%s\n\t+@%s %s/h23_jobserver_tool.py %s\n' "$shards" "$python" "$here" $places
} > data.mk
make --no-print-directory -j2 -f data.mk &
role make $!
wait $!
