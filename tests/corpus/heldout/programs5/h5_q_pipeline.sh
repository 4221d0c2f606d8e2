# tar | zstd | a slow consumer that takes 64 KB each 2 s; all goes on, and nothing is printed.
head -c 3500000 /dev/urandom > shard.bin
echo "packing"
tar -cf - shard.bin | zstd -q -1 -c | "$1" -c '
import os, time
while os.read(0, 65536):
    time.sleep(2)
print("shipped", flush=True)'
echo "packed"
