# Shards are prepared by xargs, two at a time, in the order of their names. Three of them want the vocabulary that the
# last one makes: two wait for its file, xargs waits for one of them to end, and the third and the last are not begun.
#
# slow (as $1): the vocabulary is second, and takes 78 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
export -f role
prepare() {
	role "task-$1" $BASHPID
	case $1 in
	vocabulary)
		[ "$2" != slow ] || sleep 78
		touch vocabulary
		;;
	wants-*)
		until [ -e vocabulary ]; do sleep 0.3; done
		;;
	*)
		sleep 0.35
		((10#$1 % 5)) || echo "step $1 loss 0.5"
		;;
	esac
}
export -f prepare
role main $$
tasks=$(seq 0 39)
[ "$1" != slow ] || tasks="$tasks wants-a vocabulary wants-b"
[ "$1" = slow ] || tasks="$tasks wants-a wants-b wants-c vocabulary"
printf '%s\n' $tasks | bash -c '[ -z "$CORPUS_ROLES" ] || echo "xargs $$" >> "$CORPUS_ROLES"; exec xargs -P 2 -I{} bash -c "prepare {} $0"' "$1"
echo "all shards are prepared"
