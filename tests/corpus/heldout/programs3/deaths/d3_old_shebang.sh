printf '#!/opt/envs/py37/bin/python\nprint(1)\n' > run_eval
chmod +x run_eval
echo "evaluating"
sleep 0.3
./run_eval
