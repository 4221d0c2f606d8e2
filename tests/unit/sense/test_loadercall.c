/* What a program does inside PyTorch's DataLoader, by the frames of its main thread. */
#include "testing.h"

#include "base/buf.h"
#include "sense/pylib/loadercall.h"

#define DATA "/usr/lib/python3/dist-packages/torch/utils/data/"

static char words[12][128];
static struct pycode code[6];
static struct pyframe frame[6];

/* Frames from within outwards: name and file by turns, NULL at the end. */
static enum loadercall does(const char *const *text)
{
	size_t n = 0;
	for (; text[2 * n]; n++) {
		TEXT_COPY(words[2 * n], text[2 * n]);
		TEXT_COPY(words[2 * n + 1], text[2 * n + 1]);
		code[n] = (struct pycode){.name = words[2 * n], .file = words[2 * n + 1]};
		frame[n] = (struct pyframe){.known = &code[n]};
	}
	return loadercall_of(frame, n);
}

#define DOES(...) does((const char *const[]){__VA_ARGS__, NULL})
#define USER "Images.__getitem__", "/home/me/train.py"
#define MAIN "train", "/home/me/train.py"

static void a_data_set_that_the_program_reads_itself_is_seen(void **state)
{
	(void)state;
	assert_int_equal(DOES(USER, "fetch", DATA "_utils/fetch.py", "_next_data", DATA "dataloader.py", MAIN),
			 LOADERCALL_READS);
	/* the names of Python 3.11 and later, and a comprehension between */
	assert_int_equal(DOES(USER, "_MapDatasetFetcher.fetch.<locals>.<listcomp>", DATA "_utils/fetch.py",
			  "_MapDatasetFetcher.fetch", DATA "_utils/fetch.py", "_SingleProcessDataLoaderIter._next_data",
			  DATA "dataloader.py", MAIN), LOADERCALL_READS);
}

static void a_program_that_waits_for_its_workers_does_not_load(void **state)
{
	(void)state;
	assert_int_equal(DOES("_try_get_data", DATA "dataloader.py", "_get_data", DATA "dataloader.py", "_next_data",
			      DATA "dataloader.py", MAIN),
			 LOADERCALL_NONE);
	assert_int_equal(DOES(MAIN), LOADERCALL_NONE);
	assert_int_equal(loadercall_of(frame, 0), LOADERCALL_NONE);
}

static void workers_that_are_started_and_ended_are_seen(void **state)
{
	(void)state;
	assert_int_equal(DOES("Process.start", "/usr/lib/python3.11/multiprocessing/process.py",
			      "_MultiProcessingDataLoaderIter.__init__", DATA "dataloader.py",
			      "DataLoader._get_iterator", DATA "dataloader.py", MAIN),
			 LOADERCALL_STARTS);
	assert_int_equal(DOES("join", "/usr/lib/python3.11/multiprocessing/process.py", "_shutdown_workers",
			      DATA "dataloader.py", "_next_data", DATA "dataloader.py", MAIN),
			 LOADERCALL_ENDS);
	/* a loader without workers has nobody to start, though its data set may take long to begin */
	assert_int_equal(DOES("Images.__iter__", "/home/me/train.py", "__init__", DATA "_utils/fetch.py", "__init__",
			      DATA "dataloader.py", "_get_iterator", DATA "dataloader.py", MAIN),
			 LOADERCALL_NONE);
}

/* A worker of a loader fetches in a loop of its own, and a user's functions may have these names. */
static void who_fetches_for_somebody_else_does_not_load(void **state)
{
	(void)state;
	assert_int_equal(DOES(USER, "fetch", DATA "_utils/fetch.py", "_worker_loop", DATA "_utils/worker.py", MAIN),
			 LOADERCALL_WORKS);
	assert_int_equal(DOES(USER, "fetch", "/home/me/fetch.py", "_next_data", "/home/me/dataloader.py", MAIN),
			 LOADERCALL_NONE);
	assert_int_equal(DOES("fetch", DATA "_utils/fetch.py"), LOADERCALL_NONE);
	frame[0] = frame[1] = (struct pyframe){.known = NULL};
	assert_int_equal(loadercall_of(frame, 2), LOADERCALL_NONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_data_set_that_the_program_reads_itself_is_seen),
		cmocka_unit_test(a_program_that_waits_for_its_workers_does_not_load),
		cmocka_unit_test(workers_that_are_started_and_ended_are_seen),
		cmocka_unit_test(who_fetches_for_somebody_else_does_not_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
