printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\267\000' > engine
head -c 400 /dev/zero >> engine
chmod +x engine
echo "starting the engine"
sleep 0.3
./engine
