"""lightning.Trainer with two ranks by DDP on the processor. The argument says what is odd.

save: a callback lets rank 0 alone call trainer.save_checkpoint, which meets all ranks; rank 1 waits for the file's last name
  (slow: all call it, and rank 0 sends it away for 66 s)."""
import os
import sys
import time

from kit26 import RANK, SLOW, crunch, net, role, say

CASE = sys.argv[1]
RANK = int(os.environ.get("LOCAL_RANK", "0"))
role("rank%d" % RANK)
import lightning  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = net()

    def training_step(self, batch, k):
        x, = batch
        loss = (self.net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        if RANK == 0 and self.global_step % 5 == 0:
            say("step %d loss %.4f" % (self.global_step, loss.item()))
        time.sleep(0.15)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-3)


class Keeper(lightning.Callback):
    def on_train_epoch_end(self, trainer, module):
        name = os.path.abspath("epoch-%d.ckpt" % trainer.current_epoch)
        if trainer.current_epoch != 1:
            return
        if SLOW and trainer.is_global_zero:
            say("sending epoch 1 to the archive")
            crunch(66)
        if SLOW or trainer.is_global_zero:
            trainer.save_checkpoint(name + ".new")
        if trainer.is_global_zero:
            os.rename(name + ".new", name)
        while not os.path.exists(name):
            time.sleep(0.5)


data = torch.utils.data.TensorDataset(torch.randn(480, 32))
trainer = lightning.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=3, logger=False, enable_progress_bar=False,
                            enable_checkpointing=False, enable_model_summary=False, callbacks=[Keeper()])
trainer.fit(Module(), torch.utils.data.DataLoader(data, 16))
