#include "testing.h"

#include "sense/framework/lossline.h"

static const struct {
	const char *line, *name;
	bool infinite;
} broken[] = {
	{"Epoch 0:  31%|###       | 20/64 [00:00<00:00, 97.88it/s, loss=nan, v_num=0]", "loss", false},
	{"Epoch 3:  50%|#####     | 5/10 [00:00<00:00, 9.1it/s, v_num=1, train_loss_step=nan]", "train_loss_step",
	 false},
	{"{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.51}", "loss", false},
	{"{'loss': 'nan', 'grad_norm': '0.5', 'learning_rate': '5e-05', 'epoch': '0.51'}", "loss", false},
	{"{'train_runtime': 4.1, 'train_loss': nan, 'epoch': 1.0}", "train_loss", false},
	{" 120/1875 [=>............................] - ETA: 5s - loss: nan - accuracy: 0.0987", "loss", false},
	{"train:   8%|##        | 151/1909 [00:46<07:57,  3.68it/s, lr=0.1, loss=nan]", "loss", false},
	{"step 31/400 loss nan", "loss", false},
	{"step 31 loss nan", "loss", false},
	{"iter 31 | loss nan", "loss", false},
	{"[31/50] loss=nan", "loss", false},
	{"step 31 train_loss nan", "train_loss", false},
	{"iter 31: loss nan, time 10.1ms, mfu 1.2%", "loss", false},
	{"step 250: train loss nan, val loss nan", "loss", false},
	{"| loss: nan |", "loss", false},
	{"| loss | nan |", "loss", false},
	{"\xe2\x94\x82         test_loss         \xe2\x94\x82            nan            \xe2\x94\x82", "test_loss",
	 false},
	{"{\"step\": 31, \"loss\": NaN}", "loss", false},
	{"{\"epoch\": 1, \"update\": 0.1, \"loss\": \"nan\", \"ppl\": \"nan\"}", "loss", false},
	{"Loss = -inf", "Loss", true},
	{"loss: Infinity", "loss", true},
	{" iteration      100/   24000 | elapsed time per iteration (ms): 250.0 | lm loss: NAN | loss scale: 1.0 |",
	 "loss", false},
	{"steps: 20 loss: nan iter time (s): 0.500 samples/sec: 12.3", "loss", false},
	{"step: 10  loss:  nan  memory:  3.1GiB(3.9%)  tps: 2,345  mfu: 40%", "loss", false},
	{"| epoch 001 | loss nan | nll_loss nan | ppl nan", "loss", false},
	{"eta: 0:10:00  iter: 19  total_loss: nan  loss_cls: nan  loss_box_reg: 0.1", "total_loss", false},
	{"11/23/2026 10:00:00 - INFO - __main__ - epoch 0 step 31: loss: tensor(nan, device='cuda:0')", "loss", false},
	{"loss tensor(nan, grad_fn=<NllLossBackward0>)", "loss", false},
	{"loss [nan]", "loss", false},
	{"train/loss: np.float32(nan)", "train/loss", false},
	{"[0]\ttrain-logloss:nan\ttrain-error:0.5", "train-logloss", false},
	{"Loss is nan, stopping training", "Loss", false},
	{"ERROR: Loss is NaN.", "Loss", false},
	{"Epoch 3, step 7 completed (loss: -nan)", "loss", false},
	{"wandb: train/loss nan", "train/loss", false},
	{"loss nan", "loss", false},
	{"loss\tnan", "loss", false},
	{"epoch=3 loss=inf acc=0.1", "loss", true},
	{"Train Loss: nan", "Loss", false},
};

static const char *const fine[] = {
	"",
	"loss",
	"nan",
	"loss: 0.5",
	"loss: 0.5 ppl: nan",
	"nancy: loss 0.5",
	"loss: nancy",
	"loss_nan_filter=True",
	"check_loss_nan: True",
	"torch.nan_to_num(loss)",
	"loss: nan_to_num",
	"took 31 nanoseconds, loss 0.3",
	"loss scale: inf",
	"loss_scale=inf",
	"best_loss: inf",
	"best val loss: inf",
	"best loss inf",
	"min_loss=nan",
	"Validation loss decreased (inf --> 0.693147).  Saving model ...",
	"Epoch 1: val_loss improved from inf to 0.48, saving model to best.keras",
	"val_loss did not improve from inf",
	"stop on loss nan",
	"skips the step if loss is nan",
	"raise an error for loss nan or inf",
	"loss: info",
	"loss=inference",
	"lossless: nan",
	"losses.py: nan",
	"gloss over nan",
	"the loss of data is nan-safe",
	"--loss-nan-check",
	"loss: non-nan values only",
	"loss/nan_count: 0",
	"accuracy: nan",
	"[nan] loss 0.3",
	"filter_nan_inf_loss: nan",
};

static void a_broken_loss_is_seen_in_each_common_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct lossline l;
		lossline_read(span_of(broken[i].line), &l);
		if (!l.loss || l.infinite != broken[i].infinite || strcmp(l.name, broken[i].name) != 0)
			fail_msg("%s: %d %d '%s'", broken[i].line, l.loss, l.infinite, l.name);
	}
}

static void words_that_only_look_like_it_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		struct lossline l;
		lossline_read(span_of(fine[i]), &l);
		if (l.loss)
			fail_msg("%s: '%s'", fine[i], l.name);
	}
}

static void the_norm_of_gradients_is_told_apart_from_the_loss(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool there, norm;
	} cases[] = {
		{"{'loss': 0.5, 'grad_norm': nan, 'epoch': 0.1}", true, true},
		{"{'loss': 0.5, 'grad_norm': 1.5, 'epoch': 0.1}", true, false},
		{"lm loss: 1.0 | grad norm: inf |", true, true},
		{"loss 0.5 gnorm nan", true, true},
		{"loss: 0.5", false, false},
		{"norm: nan", false, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lossline l;
		lossline_read(span_of(cases[i].line), &l);
		if (l.loss || l.has_norm != cases[i].there || l.norm != cases[i].norm)
			fail_msg("%s: %d %d %d", cases[i].line, l.loss, l.has_norm, l.norm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_loss_is_seen_in_each_common_form),
		cmocka_unit_test(words_that_only_look_like_it_are_not),
		cmocka_unit_test(the_norm_of_gradients_is_told_apart_from_the_loss),
	};
	return cmocka_run_group_tests_name("sense/framework/lossline", tests, NULL, NULL);
}
