# A script starts three encoders in the background and looks for their three ".done" files. Encoder 2 fails after a while, and
# writes none; nobody looks at its exit code.
#
# slow: it does not fail, and takes 66 s longer than the others.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
slow=$1
encode() {
	for ((k = 0; k < 80; k++)); do
		sleep 0.25
		((k % 10)) || echo "encoder $1: $k of 80 files"
		if [ "$1 $k" = "2 60" ]; then
			[ "$slow" = slow ] || exit 1
			sleep 66
		fi
	done
	touch "part-$1.done"
}
for n in 0 1 2; do
	encode $n &
	role "encoder$n" $!
done
until [ "$(ls part-*.done 2> /dev/null | wc -l)" = 3 ]; do sleep 1; done
echo "merging"
sleep 3
