"""Two workers of Ray Train that work until they are told to end: ray_ranks.py FOLDER [RUN…]; of each run, all at once."""
import os
import pathlib
import sys
import time

import ray
import ray.train
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

folder = sys.argv[1]
os.environ["RAY_TRAIN_V2_ENABLED"] = "1"
ray.init(num_cpus=6, object_store_memory=80 << 20, include_dashboard=False, _node_ip_address="127.0.0.2")


def loop(config):
    here = pathlib.Path(config["folder"])
    context = ray.train.get_context()
    (here / f"rank-{context.get_world_rank()}-{os.getpid()}-{context.get_experiment_name()}").touch()
    while not (here / "end").exists():
        time.sleep(0.05)




@ray.remote(num_cpus=0)
def fit(run):
    DataParallelTrainer(loop, train_loop_config={"folder": folder}, scaling_config=ray.train.ScalingConfig(num_workers=2),
                        run_config=ray.train.RunConfig(name=run, storage_path=f"{folder}/storage")).fit()


runs = sys.argv[2:]
if runs:
    ray.get([fit.remote(run) for run in runs])
else:
    DataParallelTrainer(loop, train_loop_config={"folder": folder}, scaling_config=ray.train.ScalingConfig(num_workers=2),
                        run_config=ray.train.RunConfig(storage_path=f"{folder}/storage")).fit()
print("done", flush=True)
