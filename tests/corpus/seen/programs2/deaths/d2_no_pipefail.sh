for i in 1 2 3 4 5; do echo "step $i loss 1.$i"; sleep 0.1; done
python3 -c 'raise SystemExit("nothing to do")' 2>&1 | tee -a run.log
