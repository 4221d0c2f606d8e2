echo "starting the engine"
sleep 0.3
exec ./build/engine --config c.yaml
