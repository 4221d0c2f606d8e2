"""A loss that becomes NaN or infinite: seen in what frameworks print, told on stderr, in the events and by a notice."""
import json
import sys

from conftest import wait_for
from hangkit import events
from notifykit import channels, server  # noqa: F401 (fixtures)

# What rank i prints for step {s}; the loss is {v}.
FORMS = [
    "Epoch 0:  31%|###       | {s}/64 [00:00<00:00, 97.88it/s, loss={v}, v_num=0]",  # Lightning
    "{{'loss': {v}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.{s}}}",  # HF Trainer
    "{{'loss': '{v}', 'grad_norm': '1.5', 'learning_rate': '5e-05', 'epoch': '0.{s}'}}",  # HF Trainer, newer
    " {s}/1875 [=>............................] - ETA: 5s - loss: {v} - accuracy: 0.0987",  # Keras
    "train:   8%|##        | {s}/1909 [00:46<07:57,  3.68it/s, lr=0.1, loss={v}]",  # tqdm
    "step {s}/400 train_loss {v}",
    "iter {s} | loss {v}",
    "[{s}/50] loss={v}",
    "| step {s} | loss: {v} |",
    '{{"step": {s}, "loss": {v}}}',  # JSON lines
    " iteration {s}/ 24000 | consumed samples: 5 | elapsed time per iteration (ms): 271.0 | lm loss: {v} | loss scale: 1.0 |",  # Megatron
    "steps: {s} loss: {v} iter time (s): 0.500 samples/sec: 12.3",  # DeepSpeed
    "| epoch 001: {s} / 100 loss {v} nll_loss {v} ppl {v}",  # fairseq
    "11/23/2026 10:00:00 - INFO - __main__ - step {s}: loss: tensor({v}, device='cuda:0')",  # accelerate
    "step {s}: Loss = -{v}",
]
FINE = ["step {s}: best_loss: inf, loss_scale: inf, loss 0.5 (nan_to_num), 31 nanoseconds", "step {s} loss_nan_filter=True nancy: nan"]

PROGRAM = """if 1:
    import json, os, sys, time
    forms = json.loads(sys.argv[1])
    form = forms[int(os.environ["RANK"])]
    for s in range(1, 60):
        print(form.format(s=s, v="nan" if s >= 20 else "0.5"), flush=True)
        time.sleep(0.1)
"""


def test_a_broken_loss_is_told_in_each_form_and_once_on_stderr(vigil):
    program = PROGRAM.replace("range(1, 60)", "range(1, 1000)")
    p = vigil.start("run", "--nproc", len(FORMS) + len(FINE), "--", sys.executable, "-c", program, json.dumps(FORMS + FINE))
    wait_for(lambda: len(events(vigil, "loss_broken")) >= len(FORMS) or p.poll() is not None, 60, "an event for each form")
    p.terminate()
    result = vigil.finish(p)
    told = {int(e["text"].split()[1].rstrip(":")): e["text"] for e in events(vigil, "loss_broken")}
    assert sorted(told) == list(range(len(FORMS))), [FORMS[i] for i in range(len(FORMS)) if i not in told]
    for rank, text in told.items():
        assert text.startswith(f"rank {rank}: the loss became NaN"), text
        if "epoch': " not in FORMS[rank]:
            assert "at step 20;" in text, (FORMS[rank], text)
    warned = [line for line in result.text.splitlines() if "the loss became" in line]
    assert len(warned) == 1 and warned[0].startswith("vigil: "), warned


def test_a_broken_loss_is_a_notice_and_quiet_keeps_stderr_clean(vigil, server, channels):  # noqa: F811
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "incidents": ["loss_broken"]},
                    {"name": "other", "kind": "webhook", "url": server.url + "/other", "incidents": ["hang"]}])
    form = json.dumps([FORMS[0], FORMS[6]])
    result = vigil("run", "--quiet", "--name", "train", "--nproc", 2, "--", sys.executable, "-c", PROGRAM, form, env=env, timeout=60)
    assert result.status == 0 and "the loss became" not in result.text, result
    wait_for(lambda: server.got, 20, "the notice")
    notice = server.bodies()[0]
    assert notice["kind"] == "loss_broken" and notice["severity"] == "warning" and notice["state"] == "firing", notice
    assert "the loss became NaN at step 20" in notice["title"], notice
    assert notice["command"] == f"vigil logs {notice['job']} --tail 50"
    assert len(events(vigil, "loss_broken")) == 2
    assert [path for path, *_ in server.got] == ["/"], "no second notice for another rank, none that it is well again"


def test_gradients_that_are_too_large_at_first_are_no_news(vigil):
    forms = ["step {s} loss 0.5 grad_norm {v}", "step {s} loss 0.5 grad_norm {v}"]
    program = PROGRAM.replace('"nan" if s >= 20 else "0.5"', '"inf" if s < 5 or (s >= 20 and os.environ["RANK"] == "1") else "0.5"')
    result = vigil("run", "--nproc", 2, "--", sys.executable, "-c", program, json.dumps(forms), timeout=60)
    assert result.status == 0, result
    assert [e["text"] for e in events(vigil, "loss_broken")] == [
        "rank 1: the norm of the gradients stays NaN or infinite at step 27; that alone stops nothing"]
