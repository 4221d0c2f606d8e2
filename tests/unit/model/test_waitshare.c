#include "testing.h"

#include "base/buf.h"
#include "model/hang/waitshare.h"
#include "sense/rank.h"

static char all_reduce[] = "all_reduce", next_data[] = "_next_data", step[] = "step";
static char c10d[] = "/x/site-packages/torch/distributed/distributed_c10d.py";
static char loader[] = "/x/site-packages/torch/utils/data/dataloader.py";
static char train[] = "/job/train.py";
static struct waitshare shares;

/* One sample of one process whose main thread has one frame. */
static void sample(int32_t rank, const char *role, char *name, char *file, enum wait_kind wait)
{
	struct dump_frame f = {.kind = FRAME_PYTHON, .name = name, .file = file, .line = 1};
	struct dump_thread t = {.main = true, .has_python = true, .frames = &f, .n_frames = 1, .wait.kind = wait};
	struct dump_process p = {.pid = 10, .rank = rank, .threads = &t, .n_threads = 1};
	text_copy(p.role, sizeof(p.role), role);
	const struct stackdump d = {.processes = &p, .n = 1};
	waitshare_add(&shares, &d, NULL, NULL);
}

static void begin(void)
{
	shares = (struct waitshare){.n = 0};
}

static void each_sample_counts_in_one_class(void **state)
{
	(void)state;
	begin();
	sample(3, "main", all_reduce, c10d, WAIT_SOCKET);
	sample(3, "main", next_data, loader, WAIT_POLL);
	sample(3, "main", step, train, WAIT_RUNNING);
	sample(3, "main", step, train, WAIT_UNKNOWN);
	sample(3, "main", step, train, WAIT_SLEEP);
	sample(3, "main", step, train, WAIT_GPU);
	sample(3, "main", step, train, WAIT_FILE);
	assert_int_equal(shares.samples, 7);
	assert_int_equal(shares.n, 1);
	const struct waitshare_rank *r = &shares.rank[0];
	assert_int_equal(r->rank, 3);
	assert_int_equal(r->n, 7);
	assert_int_equal(r->ranks, 1);
	assert_int_equal(r->loader, 1);
	assert_int_equal(r->running, 2);
	assert_int_equal(r->sleeping, 1);
	assert_int_equal(r->gpu, 1);
	assert_int_equal(r->other, 1);
	assert_float_equal(waitshare_waiting(r), 1.0 / 7, 1e-6);
}

static void a_rank_without_samples_waits_for_none(void **state)
{
	(void)state;
	assert_float_equal(waitshare_waiting(&(struct waitshare_rank){.rank = 0}), 0, 1e-9);
}

static void workers_and_processes_without_a_rank_are_left_out(void **state)
{
	(void)state;
	begin();
	sample(0, "loader", all_reduce, c10d, WAIT_SOCKET);
	sample(NO_RANK, "main", all_reduce, c10d, WAIT_SOCKET);
	assert_int_equal(shares.samples, 2);
	assert_int_equal(shares.n, 0);
	sample(0, "", all_reduce, c10d, WAIT_SOCKET); /* the role is unknown */
	assert_int_equal(shares.n, 1);
}

static void a_process_without_a_stack_is_left_out(void **state)
{
	(void)state;
	begin();
	struct dump_thread empty = {.main = true};
	struct dump_process p[] = {{.pid = 1, .rank = 0}, {.pid = 2, .rank = 1, .threads = &empty, .n_threads = 1}};
	const struct stackdump d = {.processes = p, .n = 2};
	waitshare_add(&shares, &d, NULL, NULL);
	assert_int_equal(shares.samples, 1);
	assert_int_equal(shares.n, 0);
}

static void ranks_beyond_the_limit_are_left_out(void **state)
{
	(void)state;
	begin();
	for (int32_t rank = 0; rank < WAITSHARE_RANKS + 2; rank++)
		sample(rank, "main", all_reduce, c10d, WAIT_SOCKET);
	sample(0, "main", all_reduce, c10d, WAIT_SOCKET);
	assert_int_equal(shares.n, WAITSHARE_RANKS);
	assert_int_equal(shares.rank[0].n, 2);
	assert_int_equal(shares.rank[WAITSHARE_RANKS - 1].rank, WAITSHARE_RANKS - 1);
}

/* It was stopped in the middle of a wait for the others: that is no wait for them. */
static void who_is_stopped_waits_for_nobody(void **state)
{
	(void)state;
	begin();
	sample(1, "main", all_reduce, c10d, WAIT_STOPPED);
	sample(1, "main", step, train, WAIT_MEMORY);
	assert_int_equal(shares.rank[0].ranks, 0);
	assert_int_equal(shares.rank[0].stopped, 1);
	assert_int_equal(shares.rank[0].memory, 1);
	assert_int_equal(shares.rank[0].other, 0);
}

/* One sample in which the kernel's facts say what it waits for. */
static void sample_for(int32_t rank, enum wait_kind wait, uint8_t sign, const char *whom)
{
	struct dump_frame f = {.kind = FRAME_PYTHON, .name = step, .file = train, .line = 7};
	struct dump_thread t = {.main = true, .has_python = true, .frames = &f, .n_frames = 1, .wait.kind = wait};
	struct dump_process p = {.pid = 10, .rank = rank, .threads = &t, .n_threads = 1};
	const struct stackdump d = {.processes = &p, .n = 1};
	waitshare_add(&shares, &d, &sign, &whom);
}

static void whom_it_waits_for_most_is_kept(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 3; i++)
		sample_for(1, WAIT_PIPE, 0, "decoder 812 (read, pipe 4711)");
	for (int i = 0; i < 20; i++) {
		char text[32];
		TEXT_FORMAT(text, "/data/%d.bin", i);
		sample_for(1, WAIT_FILE, 0, text);
	}
	sample_for(1, WAIT_RUNNING, 0, "nothing: it runs");
	sample_for(2, WAIT_FILE, 0, NULL);
	assert_string_equal(waitshare_usual_whom(&shares.rank[0], WAITSHARE_OTHER)->text,
			    "decoder 812 (read, pipe 4711), at train.py:7 in step");
	assert_string_equal(waitshare_usual_whom(&shares.rank[1], WAITSHARE_OTHER)->text, "at train.py:7 in step");
	/* a place that was seen more often says less */
	for (int i = 0; i < 9; i++)
		sample_for(2, WAIT_FILE, 0, NULL);
	assert_false(waitshare_usual_whom(&shares.rank[1], WAITSHARE_OTHER)->named);
	sample_for(2, WAIT_FILE, 0, "/data/x");
	sample_for(2, WAIT_FILE, 0, "/data/x");
	assert_true(waitshare_usual_whom(&shares.rank[1], WAITSHARE_OTHER)->named);
	assert_string_equal(waitshare_whom_of_all(&shares, WAITSHARE_OTHER)->text,
			    "decoder 812 (read, pipe 4711), at train.py:7 in step");
}

/* It may be for other ranks, so the rank is not the one that waits least. */
static void what_was_never_read_is_known_to_be_unknown(void **state)
{
	(void)state;
	begin();
	sample_for(1, WAIT_LOCK, WAITSHARE_UNREAD, NULL);
	sample_for(1, WAIT_RUNNING, WAITSHARE_UNREAD, NULL);
	sample_for(1, WAIT_LOCK, 0, NULL);
	sample_for(1, WAIT_SOCKET, WAITSHARE_FOR_RANKS, NULL);
	assert_float_equal(waitshare_waiting(&shares.rank[0]), 0.25, 1e-9);
	assert_float_equal(waitshare_waiting_most(&shares.rank[0]), 0.5, 1e-9);
	assert_null(waitshare_usual_whom(&shares.rank[0], WAITSHARE_SLEEPS));
	sample_for(1, WAIT_SLEEP, 0, NULL);
	assert_non_null(waitshare_usual_whom(&shares.rank[0], WAITSHARE_SLEEPS));
}

static char enter[] = "SemLock.__enter__", synchronize[] = "/usr/lib/python3.11/multiprocessing/synchronize.py";

/* By its frame it is a lock; that other processes have it is not known yet. */
static void a_lock_of_which_nothing_was_read_is_a_lock(void **state)
{
	(void)state;
	begin();
	struct dump_frame f[] = {{.kind = FRAME_PYTHON, .name = enter, .file = synchronize, .line = 95},
				 {.kind = FRAME_PYTHON, .name = step, .file = train, .line = 7}};
	struct dump_thread t = {.main = true, .has_python = true, .frames = f, .n_frames = 2, .wait.kind = WAIT_LOCK};
	struct dump_process p = {.pid = 10, .rank = 1, .threads = &t, .n_threads = 1};
	const struct stackdump d = {.processes = &p, .n = 1};
	const uint8_t unread = WAITSHARE_UNREAD, none = 0;
	waitshare_add(&shares, &d, &unread, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_LOCK), 1, 1e-9);
	assert_string_equal(waitshare_usual_whom(&shares.rank[0], WAITSHARE_LOCK)->text,
			    "a lock at train.py:7 in step");
	waitshare_add(&shares, &d, &none, NULL); /* it is one of its own threads' */
	assert_float_equal(waitshare_part(&shares, WAITSHARE_LOCK), 0.5, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 0.5, 1e-9);
}

static void a_wait_for_a_lock_of_other_ranks_is_one_for_ranks_and_told_apart(void **state)
{
	(void)state;
	begin();
	sample_for(1, WAIT_FILE, WAITSHARE_FOR_RANKS | WAITSHARE_FOR_LOCK, "rank 0 (flock, /data/x.lock)");
	sample_for(1, WAIT_SOCKET, WAITSHARE_FOR_RANKS, NULL);
	sample_for(1, WAIT_FILE, 0, "disk");
	sample_for(1, WAIT_RUNNING, 0, NULL);
	assert_int_equal(shares.rank[0].ranks, 2);
	assert_int_equal(shares.rank[0].locks, 1);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_LOCK), 0.25, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_RANKS_WAIT), 0.25, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 0.25, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_RUNS), 0.25, 1e-9);
	sample_for(2, WAIT_RUNNING, 0, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_RUNS), 0.625, 1e-9);
	double all = 0;
	for (size_t i = 0; i < WAITSHARE_CLASSES; i++)
		all += waitshare_part(&shares, (enum waitshare_class)i);
	assert_float_equal(all, 1, 1e-9);
}

/* A lock has another address in each step: few of the waits for it are ever read. */
static void waits_that_were_not_read_are_taken_for_those_at_their_place(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 10; i++)
		sample_for(2, WAIT_POLL, WAITSHARE_UNREAD, NULL); /* of whose own waits nothing is known */
	assert_float_equal(waitshare_waiting(&shares.rank[0]), 0, 1e-9);
	for (int i = 0; i < 9; i++)
		sample_for(1, WAIT_POLL, i < 3 ? WAITSHARE_FOR_RANKS : WAITSHARE_UNREAD, NULL);
	sample_for(1, WAIT_POLL, 0, "its own thread");
	sample_for(3, WAIT_LOCK, WAITSHARE_VAGUE, "a thread of its own");
	assert_int_equal(shares.rank[2].unknown, 1);
	assert_int_equal(shares.rank[2].unknown_locks, 0);
	/* three of four that were read are for ranks, so are 4.5 of the six that were not */
	assert_float_equal(waitshare_waiting(&shares.rank[1]), 0.75, 1e-9);
	assert_float_equal(waitshare_waiting_most(&shares.rank[1]), 0.9, 1e-9);
	assert_float_equal(waitshare_waiting(&shares.rank[0]), 0.75, 1e-9);
	assert_float_equal(waitshare_waiting_most(&shares.rank[0]), 1, 1e-9);
	sample_for(4, WAIT_POLL, WAITSHARE_UNREAD, NULL); /* comes later, and knows what the others do */
	assert_float_equal(waitshare_waiting(&shares.rank[3]), 0.75, 1e-9);
	double all = 0;
	for (size_t i = 0; i < WAITSHARE_CLASSES; i++)
		all += waitshare_part(&shares, (enum waitshare_class)i);
	assert_float_equal(all, 1, 1e-9);
}

/* They may be for ranks, so no part of the time is spent on others for them. Of a single process they are. */
static void a_wait_of_which_nothing_was_read_is_for_nobody_that_is_known(void **state)
{
	(void)state;
	begin();
	sample_for(1, WAIT_PIPE, WAITSHARE_UNREAD, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 1, 1e-9);
	sample_for(2, WAIT_PIPE, WAITSHARE_UNREAD, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 0, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_UNREAD_WAIT), 1, 1e-9);
	sample_for(1, WAIT_PIPE, 0, "a server"); /* now it is known what waits at that place are for */
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 1, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_UNREAD_WAIT), 0, 1e-9);
}

/* As the loops of gloo do, on a busy machine for longer: backward() waits for a thread that waits for ranks. */
static void a_thread_of_its_own_may_wait_for_ranks_where_others_do(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 4; i++)
		sample_for(1, WAIT_POLL, WAITSHARE_FOR_OWN, "a thread of its own");
	sample_for(2, WAIT_RUNNING, 0, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 0.5, 1e-9);
	assert_float_equal(waitshare_waiting_most(&shares.rank[0]), 0, 1e-9);
	sample_for(2, WAIT_POLL, WAITSHARE_FOR_RANKS, NULL);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_OTHER), 0, 1e-9);
	assert_float_equal(waitshare_part(&shares, WAITSHARE_UNREAD_WAIT), 0.5, 1e-9);
	assert_float_equal(waitshare_waiting_most(&shares.rank[0]), 1, 1e-9);
	assert_float_equal(waitshare_waiting(&shares.rank[0]), 0, 1e-9);
}

static void a_quota_counts_by_its_periods(void **state)
{
	(void)state;
	begin();
	sample(1, "main", step, train, WAIT_RUNNING);
	assert_float_equal(waitshare_throttled(&shares.rank[0]), 0, 1e-9);
	waitshare_quota(&shares, 1, 0.5, 40, 30);
	assert_float_equal(waitshare_throttled(&shares.rank[0]), 0.75, 1e-9);
	waitshare_quota(&shares, 1, 0.5, 40, 90); /* a kernel that counts otherwise */
	assert_float_equal(waitshare_throttled(&shares.rank[0]), 1, 1e-9);
}

static void who_has_no_processor_is_told_by_what_it_wants_to_run(void **state)
{
	(void)state;
	begin();
	sample(1, "main", step, train, WAIT_RUNNING);
	assert_float_equal(waitshare_queued(&shares.rank[0]), 0, 1e-9);
	assert_float_equal(waitshare_crowded(&shares.rank[0]), 0, 1e-9);
	waitshare_processor(&shares, 1, 100, 300, 1000, 2);
	assert_float_equal(waitshare_waits_per_s(&shares.rank[0]), 2e6, 1e-3);
	assert_float_equal(waitshare_queued(&shares.rank[0]), 0.3, 1e-9);
	assert_float_equal(waitshare_crowded(&shares.rank[0]), 0.75, 1e-9);
	waitshare_processor(&shares, 2, 100, 300, 1000, 2); /* a rank that has no samples */
	assert_int_equal(shares.n, 1);
}

/* Four threads that queue together for longer than the clock goes: what counts is the part of the looks. */
static void threads_queue_for_a_part_of_the_time(void **state)
{
	(void)state;
	struct waitshare_rank r = {.n = 100, .running = 50, .ran_ns = 10, .queued_ns = 30, .over_ns = 10};
	assert_float_equal(waitshare_queued(&r), 1, 1e-6);
	r.by_threads = 40;
	assert_float_equal(waitshare_queued(&r), 0.375, 1e-6);
	r.running = 0;
	assert_float_equal(waitshare_queued(&r), 0, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_queue_for_a_part_of_the_time),
		cmocka_unit_test(each_sample_counts_in_one_class),
		cmocka_unit_test(a_rank_without_samples_waits_for_none),
		cmocka_unit_test(workers_and_processes_without_a_rank_are_left_out),
		cmocka_unit_test(a_process_without_a_stack_is_left_out),
		cmocka_unit_test(ranks_beyond_the_limit_are_left_out),
		cmocka_unit_test(who_is_stopped_waits_for_nobody),
		cmocka_unit_test(whom_it_waits_for_most_is_kept),
		cmocka_unit_test(a_lock_of_which_nothing_was_read_is_a_lock),
		cmocka_unit_test(what_was_never_read_is_known_to_be_unknown),
		cmocka_unit_test(a_wait_for_a_lock_of_other_ranks_is_one_for_ranks_and_told_apart),
		cmocka_unit_test(waits_that_were_not_read_are_taken_for_those_at_their_place),
		cmocka_unit_test(a_wait_of_which_nothing_was_read_is_for_nobody_that_is_known),
		cmocka_unit_test(a_thread_of_its_own_may_wait_for_ranks_where_others_do),
		cmocka_unit_test(a_quota_counts_by_its_periods),
		cmocka_unit_test(who_has_no_processor_is_told_by_what_it_wants_to_run),
	};
	return cmocka_run_group_tests_name("model/hang/waitshare", tests, NULL, NULL);
}
