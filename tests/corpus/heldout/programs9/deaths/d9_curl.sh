set -e
echo "main $$" >> "$CORPUS_ROLES"
for k in 1 2 3 4; do echo "step $k"; sleep 0.2; done
curl -sS --noproxy '*' -o model.bin http://127.0.0.1:9/models/base.bin
echo "training"
