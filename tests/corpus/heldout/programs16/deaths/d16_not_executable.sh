#!/bin/bash
# The script that exports the model was checked out without its mode.
printf '#!/bin/sh\necho exported\n' > export_model.sh
chmod 644 export_model.sh
for step in 0 5 10 15; do
    echo "step $step"
    sleep 0.5
done
exec ./export_model.sh
