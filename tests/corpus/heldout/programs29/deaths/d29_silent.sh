# set -e and a test that says nothing: the manifest is empty.
set -e
[ -z "$CORPUS_ROLES" ] || echo "main $$" >> "$CORPUS_ROLES"
for k in $(seq 0 5 60); do
	echo "step $k of 60 prepared"
	sleep 0.3
done
: > manifest.txt
test -s manifest.txt
echo "all prepared"
