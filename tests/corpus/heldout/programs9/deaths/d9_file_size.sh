echo "main $$" >> "$CORPUS_ROLES"
for k in 1 2 3 4; do echo "sharding part $k"; sleep 0.2; done
ulimit -c 0
ulimit -f 100
exec dd if=/dev/zero of=shard.bin bs=8192 count=400 status=none
