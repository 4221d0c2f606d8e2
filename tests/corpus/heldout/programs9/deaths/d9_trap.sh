echo "main $$" >> "$CORPUS_ROLES"
trap 'echo "cleaning up"; trap - TERM; kill -TERM $$' EXIT
for k in 1 2 3 4 5; do echo "tokenizing $k"; sleep 0.2; done
grep -q "^vocab_size" config.yaml || exit 3
