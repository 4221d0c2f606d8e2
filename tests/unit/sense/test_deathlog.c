#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/death/deathlog.h"

static struct log_hint hints[16];
static struct killer_line said[8];

static size_t fed(struct span text)
{
	struct killerlog k;
	killerlog_init(&k, "log", said, ARRAY_SIZE(said));
	struct deathlog d = {.hints = hints, .cap = ARRAY_SIZE(hints), .killers = &k};
	deathlog_parse(&d, text, "rank 0 stderr", NO_RANK);
	return d.n;
}

static const struct log_hint *hint(const char *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(hints[i].id, id) == 0)
			return &hints[i];
	fail_msg("no hint %s among %zu", id, n);
	return NULL;
}

static void a_worker_s_pid_and_signal_are_taken(void **state)
{
	(void)state;
	size_t n = fed(SPAN("RuntimeError: DataLoader worker (pid 4321) is killed by signal: Killed. \n"
			    "RuntimeError: DataLoader worker (pid(s) 17, 18) exited unexpectedly\n"));
	assert_int_equal(hint("dataloader_killed", n)->pid, 4321);
	assert_int_equal(hint("dataloader_killed", n)->signal, SIGKILL);
	assert_int_equal(hint("dataloader_exited", n)->pid, 17);
	n = fed(SPAN("DataLoader worker (pid 9) is killed by signal: Bus error. It is possible that"));
	assert_int_equal(hint("dataloader_bus_error", n)->signal, SIGBUS);
}

static void the_last_line_of_the_last_traceback_counts(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 1\n"
			    "a: b\n"
			    "10%|##\rTraceback (most recent call last):\r\n  File \"b\", line 2\n\n    "
			    "x()\nm.sub.MyError: z\nafter: this\n"));
	assert_int_equal(n, 3);
	assert_string_equal(hint("python_traceback", n)->text, "m.sub.MyError: z");
	assert_string_equal(hint("earlier_traceback", n)->text, "KeyError: 1");
	assert_string_equal(hint("last_line", n)->text, "after: this");
}

static void an_exception_that_promises_more_has_the_lines_below_it(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\n"
			    "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n"
			    "\tstatus = StatusCode.UNAVAILABLE\n\tdetails = \"failed to connect to all addresses\"\n"
			    "\tdebug_error_string = \"UNKNOWN:x\"\n\tmore\n>\n"));
	assert_string_equal(hint("python_traceback", n)->text,
			    "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with: status = "
			    "StatusCode.UNAVAILABLE details = \"failed to connect to all addresses\" "
			    "debug_error_string = \"UNKNOWN:x\"");
	n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nValueError: bad:\nafter: this\n"));
	assert_string_equal(hint("python_traceback", n)->text, "ValueError: bad:");
	/* its text begins with a line's end, behind a space */
	n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nRuntimeError: \n"
		     "        An attempt has been made to start a new process before the\n"
		     "        current process has finished its bootstrapping phase.\n\n        This means more\n"));
	assert_string_equal(hint("python_traceback", n)->text,
			    "RuntimeError: An attempt has been made to start a new process before the current process "
			    "has finished its bootstrapping phase.");
}

static void what_an_exception_of_c_says_is_the_reason(void **state)
{
	(void)state;
	size_t n = fed(SPAN("iteration 9\nterminate called after throwing an instance of 'std::logic_error'\n"
			    "  what():  cache index is inconsistent\n"));
	assert_string_equal(hint("last_line", n)->text, "what():  cache index is inconsistent");
}

static void both_ends_of_chained_exceptions_are_one_traceback(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nOSError: [Errno 5] Input\n\n"
			    "The above exception was the direct cause of the following exception:\n\n"
			    "Traceback (most recent call last):\n  File \"b\", line 2\nValueError: middle\n\n"
			    "During handling of the above exception, another exception occurred:\n\n"
			    "Traceback (most recent call last):\n  File \"c\", line 3\nRuntimeError: last\n"));
	const struct log_hint *h = hint("python_traceback", n);
	assert_int_equal(n, 2);
	assert_string_equal(h->text, "RuntimeError: last");
	assert_string_equal(h->first, "OSError: [Errno 5] Input");
	assert_int_equal(h->first_line, 1);
	assert_false(h->direct);
	n = fed(SPAN(
		"Traceback (most recent call last):\n  File \"a\"\nRuntimeError: Caught ValueError in DataLoader "
		"worker process 0.\nOriginal Traceback (most recent call last):\n  File \"b\"\nValueError: bad\n"));
	assert_string_equal(hint("python_traceback", n)->text, "ValueError: bad");
	assert_true(span_starts(span_of(hint("python_traceback", n)->first), "RuntimeError: Caught ValueError"));
}

/* Ray puts what happened in the worker below the line of the driver's exception, whose name it has in brackets. */
static void what_a_task_of_ray_raised_is_the_end_of_the_driver_s_traceback(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"train.py\", line 16, in <module>\n"
			    "    get(x)\n"
			    "ray.exceptions.RayTaskError(KeyError): \033[36mray::tokenize()\033[39m (pid=3644)\n"
			    "  File \"train.py\", line 11, in tokenize\nKeyError: \"no column\"\nafter: this\n"));
	const struct log_hint *h = hint("python_traceback", n);
	assert_string_equal(h->text, "KeyError: \"no column\"");
	assert_string_equal(h->frame, "in tokenize at train.py:11");
	n = fed(SPAN("Traceback (most recent call last):\n  File \"train.py\", line 16, in <module>\n"
		     "ray.exceptions.RayTaskError(KeyError): ray::shards() (pid=3644)\n"
		     "  File \"train.py\", line 8, in shards\n"
		     "ray.exceptions.RayTaskError(KeyError): ray::tokenize() (pid=3650)\n"
		     "  File \"train.py\", line 11, in tokenize\nKeyError: \"no column\"\n"));
	assert_string_equal(hint("python_traceback", n)->text, "KeyError: \"no column\"");
	assert_true(span_has(span_of(hint("python_traceback", n)->first), "ray::shards()"));
	/* nothing of the worker is below it */
	n = fed(SPAN("Traceback (most recent call last):\n  File \"train.py\", line 16, in <module>\n"
		     "ray.exceptions.RayTaskError(KeyError): it is lost\nafter the end\n"));
	assert_string_equal(hint("python_traceback", n)->text, "ray.exceptions.RayTaskError(KeyError): it is lost");
}

static void an_exception_that_python_ignores_ends_nothing(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nAttributeError: no rope_theta\n"
			    "Exception ignored in: <function Loader.__del__ at 0x7f>\n"
			    "Traceback (most recent call last):\n  File \"b\", line 2\nTypeError: not callable\n"));
	assert_string_equal(hint("python_traceback", n)->text, "AttributeError: no rope_theta");
	n = fed(SPAN("Exception ignored in: <function Loader.__del__ at 0x7f>\n"
		     "Traceback (most recent call last):\n  File \"b\", line 2\nTypeError: not callable\n"
		     "Traceback (most recent call last):\n  File \"a\", line 1\nValueError: the end\n"));
	assert_string_equal(hint("python_traceback", n)->text, "ValueError: the end");
	n = fed(SPAN("Exception ignored in: <function Loader.__del__ at 0x7f>\n"
		     "Traceback (most recent call last):\n  File \"b\", line 2\nTypeError: not callable\n"));
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(hints[i].id, "python_traceback");
}

static void the_reason_stands_before_the_frames_of_a_stack(void **state)
{
	(void)state;
	static const struct {
		struct span log;
		const char *reason;
	} logs[] = {
		{SPAN("step 1\nstep 2\nException in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat "
		      "Main.main(program.java:6)\n"),
		 "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space"},
		{SPAN("panic: shard count changed\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/program.go:19 "
		      "+0x46\nexit status 2\n"),
		 "panic: shard count changed"},
		{SPAN("thread 'main' panicked at src/main.rs:5:10:\ntokenizer: NotFound\nstack backtrace:\n   0: "
		      "rust_begin_unwind\n             at x.rs\nnote: Some details are omitted\n"),
		 "tokenizer: NotFound"},
		{SPAN("/x.js:3\n  throw new Error('x');\n  ^\n\nError: answered 503\n    at Object.<anonymous> "
		      "(/x.js:3:9)\n\nNode.js v20.20.2\n"),
		 "Error: answered 503"},
		{SPAN("usage: t.py [-h]\n            [--x X]\nt.py: error: unrecognized arguments: --y\n"),
		 "t.py: error: unrecognized arguments: --y"},
		{SPAN("   only this\n"), "only this"},
		{SPAN("=================\n==71==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000013 "
		      "at "
		      "pc 0x55\nREAD of size 1 at 0x602000000013 thread T0\n    #0 0x5591 in main s.c:3\n\n"
		      "0x602000000013 is located 3 bytes inside of 10-byte region [0x602000000010,0x60200000001a)\n"
		      "freed by thread T0 here:\n    #0 0x7f2 in free\n\npreviously allocated by thread T0 here:\n"
		      "    #0 0x7f3 in malloc\n\nSUMMARY: AddressSanitizer: heap-use-after-free s.c:3 in main\n"
		      "Shadow bytes around the buggy address:\n  0x0c047fff7fb0: 00 00\n=>0x0c047fff8000: fa fa[fd]fd\n"
		      "  0x0c047fff8010: fa fa\nShadow byte legend (one shadow byte represents 8 application bytes):\n"
		      "  Addressable:           00\n==71==ABORTING\n"),
		 "==71==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000013 at pc 0x55"},
		{SPAN("At line 8 of file f.f90\nFortran runtime error: Index '11' of dimension 1 of array 'a' above "
		      "upper "
		      "bound of 10\n\nError termination. Backtrace:\n#0  0x7f52a1 in ???\n#1  0x7f52a2 in ???\n"),
		 "Fortran runtime error: Index '11' of dimension 1 of array 'a' above upper bound of 10"},
		{SPAN("node:internal/process/promises:394\n      triggerUncaughtException(err, true);\n      ^\n\n"
		      "[Error: ENOENT: no such file, open '/m/tokenizer.json'] {\n  errno: -2,\n  code: 'ENOENT'\n}\n\n"
		      "Node.js v20.20.2\n"),
		 "[Error: ENOENT: no such file, open '/m/tokenizer.json'] {"},
		{SPAN("<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap "
		      "out "
		      "of memory\n----- Native stack trace -----\n\n 1: 0xb76dc5 node::OOMErrorHandler\n"
		      "10: 0x7f1da3e0 \n11: 0x19c0 [node]\n"),
		 "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"},
		{SPAN("\nthread '<unnamed>' (72) panicked at x.rs:4:40:\ncalled `unwrap()` on an `Err` value: "
		      "TooShort\nnote: run "
		      "with `RUST_BACKTRACE=1`\n\nthread 'main' panicked at x.rs:8:14:\ncalled `unwrap()` on an `Err` "
		      "value: Any { .. }\n"),
		 "called `unwrap()` on an `Err` value: TooShort"},
		{SPAN("{\"level\": \"info\", \"step\": 1}\n{\"level\": \"info\", \"step\": 2}\n"
		      "{\"level\": \"error\", \"exception\": \"Traceback (most recent call last):\\n  File "
		      "\\\"t.py\\\", "
		      "line 2\\nIndexError: label 1001\\n\", \"rank\": 0}\n{\"level\": \"info\", \"event\": "
		      "\"flush\"}\n"),
		 "IndexError: label 1001"},
		/* What the loop went on after was handled. */
		{SPAN("{\"level\": \"info\", \"step\": 1}\n{\"level\": \"error\", \"event\": \"lost\"}\n"
		      "{\"level\": \"info\", \"step\": 2}\n{\"level\": \"info\", \"event\": \"leaving\"}\n"),
		 "{\"level\": \"info\", \"event\": \"leaving\"}"},
		{SPAN("INFO:root:step 1\nINFO:root:step 2\nERROR:root:validation set has 0 rows\nINFO:root:closing "
		      "writers\nINFO:root:saved\n2026-11-26 16:41:00,113 - train - INFO - bye\n"),
		 "ERROR:root:validation set has 0 rows"},
		/* The loop went on after it, so it was handled. */
		{SPAN("INFO:root:step 1\nERROR:root:lost a replica\nINFO:root:step 2\nINFO:root:step 3\n"
		      "INFO:root:bye\n"),
		 "INFO:root:bye"},
		{SPAN("ERROR:root:no rows\nplain words\nINFO:root:bye\n"), "INFO:root:bye"},
		{SPAN("loading\nno licence for 8 devices\n 66%|##   | 2/3 [00:01<00:00,  5.1it/s]\n"),
		 "no licence for 8 devices"},
		{SPAN("no licence for 8 devices\nfit:  0%|   | 0/3 [00:00<?, ?it/s]\n"), "no licence for 8 devices"},
		{SPAN("the loader made 5.1it/s]\n"), "the loader made 5.1it/s]"},
		{SPAN("==71==ERROR: AddressSanitizer: a child's\n==71==ABORTING\nno licence for 8 devices\n"),
		 "no licence for 8 devices"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		size_t n = fed(logs[i].log);
		assert_string_equal(hint("last_line", n)->text, logs[i].reason);
	}
	/* How far it came is no reason, also where nothing else was said. */
	assert_int_equal(fed(SPAN(" 33%|#  | 1/3 [00:01<00:00,  5.1it/s]\n 66%|## | 2/3 [00:01<00:00, 2.1s/it]\n")), 0);
	size_t n = fed(SPAN("step 1\nstep 2\nspot notice\nuploaded\nleaving\n"));
	assert_string_equal(hint("last_line", n)->text, "leaving");
	assert_string_equal(hint("last_line", n)->first, "spot notice / uploaded");
}

static void the_members_of_a_group_of_exceptions_are_told_with_it(void **state)
{
	(void)state;
	size_t n =
		fed(SPAN("  + Exception Group Traceback (most recent call last):\n  |   File \"t.py\", line 1\n"
			 "  | ExceptionGroup: unhandled (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n"
			 "    | Traceback (most recent call last):\n    |   File \"t.py\", line 9\n"
			 "    | OSError: [Errno 5] Input/output error\n    +---------------- 2 ----------------\n"
			 "    | KeyError: 'image'\n    +------------------------------------\n"));
	const struct log_hint *h = hint("python_traceback", n);
	assert_string_equal(h->text, "KeyError: 'image'");
	assert_true(span_has(span_of(h->first), "ExceptionGroup: unhandled (2 sub-exceptions)"));
	assert_true(span_has(span_of(h->first), "OSError: [Errno 5] Input/output error"));
	assert_int_equal(h->first_line, 1);
}

static void whether_the_program_went_on_after_a_message_is_seen_by_its_loop(void **state)
{
	(void)state;
	size_t n = fed(SPAN("step 1 loss 0.5\nstep 2 loss 0.4\nMemoryError caught\nstd::bad_alloc\nstep 3 loss 0.4\n"
			    "step 4 loss 1e-3\nNo space left on device\nshutting down\n"));
	assert_true(hint("bad_alloc", n)->went_on);
	assert_int_equal(hint("bad_alloc", n)->to_end, 4);
	assert_int_equal(hint("bad_alloc", n)->after, 3);
	assert_false(hint("disk_full", n)->went_on);
	assert_int_equal(hint("disk_full", n)->after, 1);
	/* a series that begins after it; the frames of a stack and the same line again are none */
	n = fed(SPAN("std::bad_alloc\nepoch 1\nepoch 2\nepoch 3\n"));
	assert_true(hint("bad_alloc", n)->went_on);
	n = fed(SPAN("std::bad_alloc\nframe #1: f + 0x12\nframe #2: f + 0x13\nframe #3: f + 0x14\nsaved 1\nsaved "
		     "1\nsaved 1\n"));
	assert_false(hint("bad_alloc", n)->went_on);
}

static void steps_between_two_places_of_a_log_are_seen(void **state)
{
	(void)state;
	struct span log = SPAN("step 1 loss 0.5\nstep 2 loss 0.4\nstep 3 loss 0.3\nstep 4 loss 0.2\nbye\n");
	assert_true(deathlog_steps_between(log, 32, 64));
	assert_true(deathlog_steps_between(log, 16, 64));
	assert_true(deathlog_steps_between(log, 32, 1000));
	assert_false(deathlog_steps_between(log, 64, 1000));
	assert_false(deathlog_steps_between(log, 32, 48)); /* one is no series */
	assert_false(deathlog_steps_between(SPAN("flushed\nleaving now\nbye\n"), 0, 1000));
}

static void an_exception_is_not_told_once_more_before_the_last_line(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Traceback (most recent call last):\n  File \"a\", line 1\nOSError: refused\n"
			    "will go on offline\nearly stopping\n"));
	assert_int_equal(hint("python_traceback", n)->at_bytes, 54);
	assert_string_equal(hint("last_line", n)->text, "early stopping");
	assert_string_equal(hint("last_line", n)->first, "will go on offline");
}

static void a_port_in_use_is_taken_from_the_message_or_the_traceback(void **state)
{
	(void)state;
	size_t n = fed(SPAN("torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
			    "network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE\n"));
	assert_int_equal(hint("port_in_use", n)->port, 29500);
	n = fed(SPAN("The server socket has failed to bind to [::]:29511 (errno: 98 - Address already in use).\n"));
	assert_int_equal(hint("port_in_use", n)->port, 29511);
	n = fed(SPAN(
		"[Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use\n"));
	assert_int_equal(hint("port_in_use", n)->port, 8000);
	n = fed(SPAN("listen tcp :8080: bind: address already in use\n"));
	assert_int_equal(hint("port_in_use", n)->port, 8080);
	n = fed(SPAN("Traceback (most recent call last):\n  File \"s.py\", line 2, in <module>\n"
		     "    s.bind(('127.0.0.1', 29512))\nOSError: [Errno 98] Address already in use\n"));
	assert_int_equal(hint("port_in_use", n)->port, 29512);
}

static void ranks_in_front_of_lines_are_told_apart(void **state)
{
	(void)state;
	size_t n = fed(SPAN("[rank1]: Traceback (most recent call last):\n[rank0]: Traceback (most recent call last):\n"
			    "[rank1]:   File \"a\"\n[rank0]:   File \"a\"\n[rank0]: ValueError: zero\n"));
	assert_int_equal(hint("python_traceback", n)->rank, 0);
}

static void torchrun_s_root_cause_is_taken_apart(void **state)
{
	(void)state;
	size_t n = fed(SPAN("Failures:\n[1]:\n  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 12)\n"
			    "Root Cause (first observed failure):\n[0]:\n  rank      : 5 (local_rank: 1)\n  exitcode  "
			    ": -11 (pid: 2630)\n"
			    "  traceback : Signal 11 (SIGSEGV) received by PID 2630\n====\n"));
	const struct log_hint *h = hint("torchrun_failure", n);
	assert_int_equal(h->rank, 5);
	assert_int_equal(h->pid, 2630);
	assert_int_equal(h->signal, SIGSEGV);
	assert_int_equal(h->exit_code, -11);
	n = fed(SPAN("Root Cause (first observed failure):\n  rank : 5\n  exitcode  : 1 (pid: 7"));
	assert_int_equal(hint("torchrun_failure", n)->exit_code, 1); /* cut off at its end */
}

static void sizes_in_messages_become_bytes(void **state)
{
	(void)state;
	size_t n = fed(SPAN(
		"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.28 GiB for an array with shape (1,)\n"
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0\n"));
	assert_true(hint("numpy_memory_error", n)->bytes == 7 * GIB + GIB * 28 / 100);
	assert_int_equal(hint("cuda_oom", n)->bytes, 20 * MIB);
}

static void several_gpu_messages_tell_whether_tensors_grew(void **state)
{
	(void)state;
	static const char form[] =
		"CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 8.00 GiB total capacity; %u.00 GiB already "
		"allocated; 4.88 MiB free; 7.50 GiB reserved in total by PyTorch)\n";
	static const unsigned allocated[] = {5, 5, 6, 7};
	char text[2000] = "";
	struct buf b = {.text = text, .cap = sizeof(text)};
	for (size_t i = 0; i < ARRAY_SIZE(allocated); i++)
		buf_printf(&b, form, allocated[i]);
	buf_add(&b, "torch.OutOfMemoryError: CUDA error: out of memory\n");
	size_t n = fed(span_of(text));
	const struct log_hint *h = hint("cuda_oom", n);
	assert_true(h->has_gpu && !h->gpu_fell);
	/* the second is the first once more */
	assert_int_equal(h->gpu_messages, 3);
	assert_int_equal(h->gpu_first_allocated_bytes, 5 * GIB);
	assert_int_equal(h->gpu.allocated.bytes, 7 * GIB);
	buf_printf(&b, form, 4U);
	n = fed(span_of(text));
	assert_true(hint("cuda_oom", n)->gpu_fell);
}

static void only_slurm_and_ray_are_believed_in_a_job_s_own_output(void **state)
{
	(void)state;
	struct killerlog k;
	killerlog_init(&k, "log", said, ARRAY_SIZE(said));
	struct deathlog d = {.hints = hints, .cap = ARRAY_SIZE(hints), .killers = &k};
	deathlog_parse(
		&d,
		SPAN("Killed /a due to memory pressure for /a being 57.97% > 50.00% for > 20s with reclaim activity\n"
		     "sending SIGKILL to process 7 uid 0 \"x\": badness 1, VmRSS 5 MiB\n"
		     "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some\n"),
		"rank 2 stderr", 2);
	assert_int_equal(k.n, 1);
	assert_int_equal(said[0].killer, KILLER_SLURM);
	assert_string_equal(said[0].source, "rank 2 stderr");
}

static void the_head_of_a_very_long_stack_is_found(void **state)
{
	(void)state;
	static char text[64 * 1024];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_add(&b, "Exception in thread \"main\" java.lang.StackOverflowError\n");
	for (int i = 0; i < 1024; i++)
		buf_add(&b, "\tat J6.f(J6.java:1)\n");
	assert_string_equal(hint("last_line", fed(span_of(text)))->text,
			    "Exception in thread \"main\" java.lang.StackOverflowError");
}

static void ordinary_words_are_no_hint(void **state)
{
	(void)state;
	assert_int_equal(
		fed(SPAN("Killed 3 stale workers\nloss: 0.1\nKilledness\nerror: line 3: 7 items\nSaved to /dev/shm\n"
			 "Traceback (most recent call last):\n  File \"x\"\n")),
		1);
	assert_string_equal(hints[0].id, "last_line");
}

static void binary_garbage_is_survived(void **state)
{
	(void)state;
	char junk[4096];
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)(i * 31 + i / 7);
	(void)fed((struct span){junk, sizeof(junk)});
	assert_int_equal(fed(SPAN("\xff\xfe\0\0[rank\xff]: MemoryError\0Killed\n\0\n")), 1);
	assert_string_equal(hints[0].id, "last_line");
}

static void of_a_huge_file_only_the_tail_is_read(void **state)
{
	(void)state;
	char path[] = "/tmp/vigil-tail-XXXXXX";
	static char buf[DEATHLOG_TAIL];
	struct span tail;
	cleanup(closep) int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)10 * 1024 * 1024 * 1024), 0); /* sparse */
	assert_true(lseek(fd, 0, SEEK_END) > 0);
	assert_int_equal(file_write_all(fd, "\nMemoryError\n", 13), 0);
	assert_int_equal(deathlog_tail(AT_FDCWD, path, buf, sizeof(buf), &tail), 0);
	assert_int_equal(tail.len, DEATHLOG_TAIL);
	assert_memory_equal(tail.p + tail.len - 13, "\nMemoryError\n", 13);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(deathlog_tail(AT_FDCWD, path, buf, sizeof(buf), &tail), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(deathlog_tail(AT_FDCWD, path, buf, sizeof(buf), &tail), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_gpu_messages_tell_whether_tensors_grew),
		cmocka_unit_test(a_worker_s_pid_and_signal_are_taken),
		cmocka_unit_test(the_last_line_of_the_last_traceback_counts),
		cmocka_unit_test(an_exception_that_promises_more_has_the_lines_below_it),
		cmocka_unit_test(what_an_exception_of_c_says_is_the_reason),
		cmocka_unit_test(both_ends_of_chained_exceptions_are_one_traceback),
		cmocka_unit_test(what_a_task_of_ray_raised_is_the_end_of_the_driver_s_traceback),
		cmocka_unit_test(an_exception_that_python_ignores_ends_nothing),
		cmocka_unit_test(the_reason_stands_before_the_frames_of_a_stack),
		cmocka_unit_test(the_members_of_a_group_of_exceptions_are_told_with_it),
		cmocka_unit_test(whether_the_program_went_on_after_a_message_is_seen_by_its_loop),
		cmocka_unit_test(steps_between_two_places_of_a_log_are_seen),
		cmocka_unit_test(an_exception_is_not_told_once_more_before_the_last_line),
		cmocka_unit_test(a_port_in_use_is_taken_from_the_message_or_the_traceback),
		cmocka_unit_test(ranks_in_front_of_lines_are_told_apart),
		cmocka_unit_test(torchrun_s_root_cause_is_taken_apart),
		cmocka_unit_test(sizes_in_messages_become_bytes),
		cmocka_unit_test(only_slurm_and_ray_are_believed_in_a_job_s_own_output),
		cmocka_unit_test(the_head_of_a_very_long_stack_is_found),
		cmocka_unit_test(ordinary_words_are_no_hint),
		cmocka_unit_test(binary_garbage_is_survived),
		cmocka_unit_test(of_a_huge_file_only_the_tail_is_read),
	};
	return cmocka_run_group_tests_name("sense/death/deathlog", tests, NULL, NULL);
}
