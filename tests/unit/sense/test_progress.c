#include "testing.h"

#include <math.h>

#include "base/buf.h"
#include "sense/framework/progress.h"

static const struct {
	const char *line;
	enum progress_form form;
	int32_t rank;
	double epoch; /* -1 none */
	int64_t step, total;
	double rate, loss; /* -1 none */
} lines[] = {
	{"train:  8%|##        | 151/1909 [00:46<07:57,  3.68it/s, loss=0.25]", PROGRESS_TQDM, -1, -1, 151, 1909, 3.68,
	 0.25},
	{"100%|##########| 20/20 [04:00<00:00, 12.5s/it]", PROGRESS_TQDM, -1, -1, 20, 20, 0.08, -1},
	{"[rank2]: Epoch 3:  45%|####5     | 450/1000 [01:00<01:13, 7.50it/s, loss=1.5, v_num=0]", PROGRESS_LIGHTNING,
	 2, 3, 450, 1000, 7.5, 1.5},
	{"{'loss': 2.125, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.5}", PROGRESS_TRAINER, -1, 0.5, -1, -1,
	 -1, 2.125},
	{" [2026-11-20 10:04:41] iteration      100/   24000 | consumed samples:        25600 | elapsed time per "
	 "iteration (ms): "
	 "250.0 | learning rate: 1.5E-04 | lm loss: 1.05E+01 | loss scale: 1.0 |",
	 PROGRESS_MEGATRON, -1, -1, 100, 24000, 4, 10.5},
	{"[titan] 2026-11-20 10:04:41,123 - root - INFO - step: 10  loss:  7.5  memory:  3.1GiB(3.9%)  tps: 2,345  "
	 "mfu: 40%",
	 PROGRESS_TORCHTITAN, -1, -1, 10, -1, -1, 7.5},
	{"steps: 20 loss: 6.5000 iter time (s): 0.500 samples/sec: 12.3", PROGRESS_DEEPSPEED, -1, -1, 20, -1, 2, 6.5},
	{" 120/1875 [=>............................] - ETA: 5s - loss: 0.5000 - accuracy: 0.9", PROGRESS_KERAS, -1, -1,
	 120, 1875, -1, 0.5},
	{"Rank:2 Epoch:[48][20384/all] loss: nan", PROGRESS_BRACKETS, 2, 48, 20384, -1, -1, NAN},
	{"Epoch: [3][ 120/1875] Time 0.1 Loss 0.5", PROGRESS_BRACKETS, -1, 3, 120, 1875, -1, -1},
	{"[Epoch 3][ 120/1875] loss: 0.5", PROGRESS_BRACKETS, -1, 3, 120, 1875, -1, 0.5},
	{"[1,3]<stdout>:epoch 2 step 120/400 loss=0.75", PROGRESS_WORDS, 3, 2, 120, 400, -1, 0.75},
	{"(RayTrainWorker pid=71, ip=10.0.0.2) iter: 17, loss: -inf", PROGRESS_WORDS, -1, -1, 17, -1, -1, -INFINITY},
	{"3: global_step=7", PROGRESS_WORDS, 3, -1, 7, -1, -1, -1},
	{"{\"step\": 31, \"loss\": 0.5}", PROGRESS_WORDS, -1, -1, 31, -1, -1, 0.5},
	{"[31/50] loss=0.5", PROGRESS_WORDS, -1, -1, 31, 50, -1, 0.5},
	{"[12:00:07] 31/50 loss=0.5", PROGRESS_WORDS, -1, -1, 31, 50, -1, 0.5},
	{"{\"_step\": 31, \"train/loss\": 0.5}", PROGRESS_WORDS, -1, -1, 31, -1, -1, 0.5},
	{"Epoch 2 of 2026/11/26 loss=0.5", PROGRESS_WORDS, -1, 2, -1, -1, -1, 0.5},
	{"11/26 12:00:07 epoch 2 loss=0.5", PROGRESS_WORDS, -1, 2, -1, -1, -1, 0.5},
	{"epoch 2 /data/7/9/x loss=0.5", PROGRESS_WORDS, -1, 2, -1, -1, -1, 0.5},
	{"Epoch 1/4 \xe2\x94\x81\xe2\x94\x81\xe2\x95\xb8\xe2\x94\x81 32/64 0:00:03 \xe2\x80\xa2 0:00:03 10.5it/s "
	 "v_num: 0.000 train_loss: 0.25",
	 PROGRESS_LIGHTNING, -1, 1, 32, 64, 10.5, -1},
	{"| epoch 001:     20 / 100 loss 0.5 nll_loss 0.4", PROGRESS_WORDS, -1, 1, 20, 100, -1, 0.5},
	{"Epoch 3/10: loss 0.5", PROGRESS_WORDS, -1, 3, -1, -1, -1, -1},
	{"\tEpoch 12/90", PROGRESS_WORDS, -1, 12, -1, -1, -1, -1},
	{"   25   0.0920", PROGRESS_COLUMNS, -1, -1, 25, -1, -1, -1},
	{"25,0.092,nan, 1e-4", PROGRESS_COLUMNS, -1, -1, 25, -1, -1, -1},
	{"25\t3 | -0.25", PROGRESS_COLUMNS, -1, -1, 25, -1, -1, -1},
	{"Episode: 25/500, Reward: -3.5", PROGRESS_WORDS, -1, -1, 25, 500, -1, -1},
	{"[trainer] it=49 loss=0.5", PROGRESS_WORDS, -1, -1, 49, -1, -1, 0.5},
	{"trial 7 finished, score 0.81", PROGRESS_WORDS, -1, -1, 7, -1, -1, -1},
	{"episode 25: policy version 14, return 18.2", PROGRESS_WORDS, -1, -1, 25, -1, -1, -1},
	{"update 12 | mean return 3.60 | actors 3", PROGRESS_WORDS, -1, -1, 12, -1, -1, -1},
	{"[ROUND 4] accuracy=0.81", PROGRESS_WORDS, -1, -1, 4, -1, -1, -1},
};

static void each_known_format_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct progress_line r;
		if (progress_parse(span_of(lines[i].line), NULL, &r) != 0)
			fail_msg("nothing in %s", lines[i].line);
		bool loss = isnan(lines[i].loss) || lines[i].loss != -1;
		if (r.form != lines[i].form || r.rank != lines[i].rank || r.has_epoch != (lines[i].epoch >= 0) ||
		    r.has_step != (lines[i].step >= 0) || r.has_total != (lines[i].total >= 0) ||
		    r.has_rate != (lines[i].rate >= 0) || r.has_loss != loss)
			fail_msg("%s: form %d rank %d, %d%d%d%d%d", lines[i].line, (int)r.form, r.rank, r.has_epoch,
				 r.has_step, r.has_total, r.has_rate, r.has_loss);
		if ((r.has_epoch && r.epoch != lines[i].epoch) || (r.has_step && r.step != (uint64_t)lines[i].step) ||
		    (r.has_total && r.total != (uint64_t)lines[i].total) ||
		    (r.has_rate && fabs(r.rate_per_s - lines[i].rate) > 1e-9))
			fail_msg("%s: %g %llu %llu %g", lines[i].line, r.epoch, (unsigned long long)r.step,
				 (unsigned long long)r.total, r.rate_per_s);
		if (loss && isnan(lines[i].loss))
			assert_true(isnan(r.loss));
		else if (loss && isinf(lines[i].loss))
			assert_true(isinf(r.loss) && r.loss < 0);
		else if (loss)
			assert_true(fabs(r.loss - lines[i].loss) < 1e-9);
	}
}

static void other_lines_tell_nothing(void **state)
{
	(void)state;
	static const char *const others[] = {
		"",
		"hello",
		"loss of the connection",
		"saved to step/12",
		"the third step 3rd of it",
		"batch size: 32x4",
		"0.5/1.0",
		"2026-11-20 10:04:41 INFO started",
		"steps: many",
		"losses: 12",
		"checkpoint 12/30 [=",
		"lr 0.1",
		"stepping 4",
		"update 12 of the index",
		"episode 3: returned to the lobby",
		"round 3, 4 workers",
		"25",
		"25 30 35",
		"0.25 0.5",
		"25 0.5 nano",
		"25 0.5s",
		"10.0.0.3",
		"2026-11-20 10.5",
		"25 .",
		"1 2 3 4 5 6 7 8 9 10 11 12 13.5",
	};
	struct progress_line r;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (progress_parse(span_of(others[i]), NULL, &r) != PROGRESS_NONE)
			fail_msg("%s: %d", others[i], (int)r.form);
}

static void a_user_s_pattern_goes_first(void **state)
{
	(void)state;
	static struct progress_patterns user;
	static const char *const texts[] = {
		"pass \\d+ of it (?<step>\\d+) err=(?P<loss>[^ ]+)",
		"(never|\\[train\\] it=)(?<step>[(0-9]+) of (?<total>\\d+) \\| L=(?<loss>[^ ]+)"};
	char why[160];
	size_t at;
	for (user.n = 0; user.n < ARRAY_SIZE(texts); user.n++)
		assert_int_equal(progress_pattern_init(&user.each[user.n], span_of(texts[user.n]), why, &at), 0);
	struct progress_line r;
	assert_int_equal(progress_parse(span_of("pass 3 of it 41 err=NaN step 9"), &user, &r), 0);
	assert_int_equal(r.form, PROGRESS_USER);
	assert_int_equal(r.step, 41);
	assert_true(r.has_loss && isnan(r.loss) && !r.has_total);
	assert_int_equal(progress_parse(span_of("[train] it=12 of 1000 | L=nan"), &user, &r), 0);
	assert_true(r.form == PROGRESS_USER && r.step == 12 && r.has_total && r.total == 1000 && isnan(r.loss));
	assert_int_equal(progress_parse(span_of("[rank3]: [train] it=13 of 1000 | L=0.5"), &user, &r), 0);
	assert_true(r.rank == 3 && r.step == 13 && r.loss == 0.5);
	assert_int_equal(progress_parse(span_of("step 9"), &user, &r), 0);
	assert_int_equal(r.form, PROGRESS_WORDS);
	for (size_t i = 0; i < user.n; i++)
		progress_pattern_done(&user.each[i]);
}

static void a_wrong_pattern_of_progress_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why;
		size_t at;
	} cases[] = {
		{"it=(\\d+)", "no part is named; at least one of (?<step>…), (?<epoch>…) and (?<loss>…) is needed", 0},
		{"of (?<total>\\d+)",
		 "no part is named; at least one of (?<step>…), (?<epoch>…) and (?<loss>…) is needed", 0},
		{"it=(?<stp>\\d+)", "a named part is (?<step>…), (?<total>…), (?<epoch>…) or (?<loss>…)", 3},
		{"it=(?<step", "a named part is (?<step>…), (?<total>…), (?<epoch>…) or (?<loss>…)", 3},
		{"(?<step>a)(?<step>b)", "this part is named twice; each of step, total, epoch and loss may stand once",
		 10},
		{"()()()()()()()(?<step>a)", "too many groups stand before this part; at most 7 in all are kept", 14},
		{"it=(?<step>\\d+", "( without )", 14},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct progress_pattern p;
		char why[160] = "";
		size_t at = 999;
		assert_int_equal(progress_pattern_init(&p, span_of(cases[i].text), why, &at), -EINVAL);
		assert_string_equal(why, cases[i].why);
		assert_int_equal(at, cases[i].at);
	}
	char text[PROGRESS_PATTERN_TEXT + 8] = "(?<step>x)", why[160];
	struct progress_pattern p;
	size_t at;
	memset(text + 10, 'y', sizeof(text) - 11);
	assert_int_equal(progress_pattern_init(&p, span_of(text), why, &at), -EINVAL);
	assert_string_equal(why, "the pattern is longer than 383 bytes");
}

static void steps_cut_in_the_middle_are_counted_once(void **state)
{
	(void)state;
	struct progress p;
	char line[100];
	uint64_t now = NS_PER_S;
	progress_init(&p, NULL);
	for (int step = 0; step < 200; step += 2) {
		/* cut in the middle, ended by \r */
		now += step == 100 ? 500 * NS_PER_S : step % 4 ? 2100 * NS_PER_MS : 1900 * NS_PER_MS;
		int n = text_format(line, sizeof(line), "  5%%|#  | %d/999 [00:46<07:57,  3.68it/s]\r", step);
		progress_feed(&p, line, 11, now);
		progress_feed(&p, line + 11, (size_t)n - 11, now);
		progress_feed(&p, "a line in between\n", 18, now);
	}
	assert_true(p.has_step_time && p.last_step_ns == now);
	assert_int_equal(p.n_steps, 100);
	assert_int_equal(p.last.step, 198);
	assert_int_equal(p.n_lines, 100);
}

static void a_broken_loss_is_remembered_with_its_step(void **state)
{
	(void)state;
	struct progress p;
	progress_init(&p, NULL);
	const char *text = "step 1 loss=1.0\nstep 2 loss=nan\nstep 3 loss=nan\n";
	progress_feed(&p, text, strlen(text), 5);
	assert_true(p.loss.found && p.loss.has_step && !p.loss.infinite);
	assert_int_equal(p.loss.step, 2);
}

static void a_broken_loss_needs_no_line_of_progress(void **state)
{
	(void)state;
	static struct progress p;
	progress_init(&p, NULL);
	const char *text = "best loss: inf\nloss 0.5\n";
	progress_feed(&p, text, strlen(text), 1);
	assert_false(p.loss.found);
	text = "[rank1]: loss inf\n";
	progress_feed(&p, text, strlen(text), 2);
	assert_true(p.loss.found && p.loss.infinite && !p.loss.has_step && !p.any);
}

static void gradients_are_broken_when_they_stay_so(void **state)
{
	(void)state;
	static struct progress p;
	char line[64];
	progress_init(&p, NULL);
	for (int i = 1; i < 3 * PROGRESS_NORMS; i++) {
		bool fine = i == PROGRESS_NORMS; /* one step before they would count */
		TEXT_FORMAT(line, "step %d loss 0.5 grad_norm %s\nsaved\n", i, fine ? "1.0" : "nan");
		progress_feed(&p, line, strlen(line), 1);
		assert_int_equal(p.norm.found, i >= 2 * PROGRESS_NORMS);
	}
	assert_int_equal(p.norm.step, 2 * PROGRESS_NORMS);
	assert_false(p.loss.found);
}

static void a_line_without_end_costs_no_memory(void **state)
{
	(void)state;
	struct progress p;
	char block[4096];
	memset(block, 'x', sizeof(block));
	progress_init(&p, NULL);
	for (int i = 0; i < 100; i++)
		progress_feed(&p, block, sizeof(block), 1);
	progress_feed(&p, " step 5\nstep 6\n", 15, 2);
	assert_int_equal(p.n_lines, 1);
	assert_int_equal(p.last.step, 6);
}

static void the_end_of_an_epoch_is_read_until_the_next_step(void **state)
{
	(void)state;
	static const char *const ends[] = {"epoch done", "Epoch 3 finished in 20 s",
					   "=== End of epoch 2 ===", "[rank1]: Completed epoch: 4"};
	static const char *const others[] = {"epoch 3", "all done", "epochs done: 2", "pending epoch",
					     "Epoch [3][44/all] loss=0.5"};
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		assert_true(progress_ends_epoch(span_of(ends[i])));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(progress_ends_epoch(span_of(others[i])));
	struct progress p;
	progress_init(&p, NULL);
	const char *text = "Epoch [3][44/all] loss=0.5\nepoch 3 done\n";
	progress_feed(&p, text, strlen(text), 1);
	assert_true(p.epoch_ended);
	text = "Epoch [4][0/all] loss=0.5\n";
	progress_feed(&p, text, strlen(text), 2);
	assert_false(p.epoch_ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_known_format_is_read),
		cmocka_unit_test(other_lines_tell_nothing),
		cmocka_unit_test(a_user_s_pattern_goes_first),
		cmocka_unit_test(a_wrong_pattern_of_progress_is_refused),
		cmocka_unit_test(steps_cut_in_the_middle_are_counted_once),
		cmocka_unit_test(a_broken_loss_is_remembered_with_its_step),
		cmocka_unit_test(a_broken_loss_needs_no_line_of_progress),
		cmocka_unit_test(gradients_are_broken_when_they_stay_so),
		cmocka_unit_test(a_line_without_end_costs_no_memory),
		cmocka_unit_test(the_end_of_an_epoch_is_read_until_the_next_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
