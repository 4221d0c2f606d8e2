# Shards are made by make -j2. Two rules look for a file that a third rule makes, instead of naming it as what they need:
# they have both places, and the third one is not started.
#
# slow: the two need it not, and one of them takes 65 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
wait_for='until [ -e vocabulary ]; do sleep 1; done'
[ "$1" = slow ] && wait_for='sleep 65'
note='[ -z "$$CORPUS_ROLES" ] || echo "$@ $$$$" >> "$$CORPUS_ROLES"'
{
	printf 'all: %s encode-a encode-b vocabulary\n' "$(seq -f 'shard-%g' -s ' ' 0 219)"
	printf 'shard-%%:\n\t@sleep 0.22; [ $$(($* %% 5)) -ne 0 ] || echo "step $* of 220 shard-$*"\n'
	printf 'encode-%%:\n\t@%s; %s\n' "$note" "$wait_for"
	printf 'vocabulary:\n\t@touch vocabulary; echo "step 220 of 220 vocabulary"\n'
} > Makefile
role main $$
make -j2 > >(cat) &
role make $!
wait $!
