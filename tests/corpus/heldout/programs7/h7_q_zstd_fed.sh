#!/bin/bash
# A download is unpacked on its way: its server lets it wait for 64 s and then goes on.
echo "main $$" >>"$CORPUS_ROLES"
{
    seq 1 60000
    sleep 64
    seq 1 60000
} | zstd -q | zstd -dc | while read -r line; do
    ((++n % 20000)) || echo "unpacked $n rows"
done
