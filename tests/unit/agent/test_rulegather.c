/*
 * The cause book asked about whole jobs: fixture logs, environments and stacks in, verdict with cause, culprits and
 * advice out. Each case that the documents vigil was founded on describe has its own test.
 */
#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/rules/rulegather.h"
#include "base/file.h"

#define RANKS 8

struct job {
	char dir[64];
	struct world w;
	struct rulegather *g;
	struct rulegather_rank ranks[RANKS];
	char log[RANKS][128];
	size_t n;
	struct stackdump stacks;
	struct rulegather_want want;
	struct rulegather_result *r;
	pid_t children[RANKS];
};

static const int64_t now_ms = INT64_C(1795169081000); /* 2026-11-20 10:04:41 UTC */

static int64_t test_unix_ms(void)
{
	return now_ms;
}

static void text_put(const char *path, const char *text, int how)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | how, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	text_put(path, text, O_CREAT | O_TRUNC);
}

static void append_text(const char *path, const char *text)
{
	text_put(path, text, O_APPEND);
}

static void job_begin(struct job *j, size_t n_ranks)
{
	char path[128];
	memset(j, 0, sizeof(*j));
	TEXT_COPY(j->dir, "/tmp/vigil-rulegather-XXXXXX");
	assert_non_null(mkdtemp(j->dir));
	TEXT_FORMAT(path, "%s/kmsg", j->dir);
	write_text(path, "");
	j->w = (struct world){.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			      .sys_fd = open(j->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			      .cgroup_fd = -1,
			      .shm_fd = -1,
			      .kmsg_fd = open(path, O_RDONLY | O_CLOEXEC),
			      .recorded = true,
			      .page_bytes = 4096,
			      .ticks_per_s = 100,
			      .mono_ns = later_mono_ns,
			      .unix_ms = test_unix_ms};
	j->n = n_ranks;
	j->r = calloc(1, sizeof(*j->r));
	assert_non_null(j->r);
	for (size_t i = 0; i < n_ranks; i++) {
		TEXT_FORMAT(j->log[i], "%s/rank-%zu.err", j->dir, i);
		write_text(j->log[i], "");
		j->ranks[i] = (struct rulegather_rank){.rank = (int32_t)i, .err = j->log[i]};
	}
	j->want = (struct rulegather_want){.ranks = j->ranks, .n_ranks = n_ranks};
}

static void job_make(struct job *j)
{
	struct fault f = {.text = ""};
	if (rulegather_new(&j->w, NULL, NULL, now_ms - 120000, &j->g, &f) != 0)
		fail_msg("%s", f.text);
}

static void job_ask(struct job *j)
{
	if (!j->g)
		job_make(j);
	rulegather_begin(j->g, &j->want, j->r);
	while (!rulegather_step(j->g))
		(void)poll(NULL, 0, 5);
	assert_int_equal(rulegather_finish(j->g, j->stacks.n ? &j->stacks : NULL), 0);
}

static int removed(const char *path, const struct stat *st, int kind, struct FTW *f)
{
	(void)st;
	(void)kind;
	(void)f;
	return remove(path);
}

static void job_end(struct job *j)
{
	j->g = rulegather_free(j->g);
	stackdump_done(&j->stacks);
	for (size_t i = 0; i < RANKS; i++)
		if (j->children[i] > 0) {
			kill(j->children[i], SIGKILL);
			waitpid(j->children[i], NULL, 0);
		}
	closep(&j->w.proc_fd);
	closep(&j->w.sys_fd);
	closep(&j->w.kmsg_fd);
	free(j->r);
	assert_int_equal(nftw(j->dir, removed, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Records of the kernel, as of half a minute ago. */
static void kernel_says(const struct job *j, const char *priority, const char *text)
{
	char path[128], record[512];
	static unsigned seq;
	TEXT_FORMAT(path, "%s/kmsg", j->dir);
	TEXT_FORMAT(record, "%s,%u,%llu,-;%s\n", priority, seq++,
		    (unsigned long long)(later_mono_ns() / 1000 - 30000000), text);
	append_text(path, record);
}

/* A living process with this environment ("A=1 B=2"), as rank i. */
static void rank_start(struct job *j, size_t i, const char *environment)
{
	char text[400], sleeps[] = "sleep", long_enough[] = "600";
	char *argv[] = {sleeps, long_enough, NULL}, *envp[12] = {NULL};
	int ready[2];
	char c;
	TEXT_COPY(text, environment);
	for (size_t n = 0, at = 0; text[at] && n + 1 < ARRAY_SIZE(envp); n++) {
		envp[n] = text + at;
		at += strcspn(text + at, " ");
		if (text[at])
			text[at++] = '\0';
	}
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	j->children[i] = fork();
	if (j->children[i] == 0) {
		execve("/bin/sleep", argv, envp);
		_exit(127);
	}
	close(ready[1]);
	/* the end closes with exec: its environment is that one now */
	assert_int_equal(read(ready[0], &c, 1), 0);
	close(ready[0]);
	j->ranks[i].pid = j->children[i];
}

/* "file.py:name" or "library.so!name", outermost first, with blanks between. */
static void thread_add(struct dump_process *p, const char *frames)
{
	struct span rest = span_of(frames), word;
	struct dump_thread *t;
	p->threads = reallocarray(p->threads, p->n_threads + 1, sizeof(*p->threads));
	assert_non_null(p->threads);
	t = &p->threads[p->n_threads];
	*t = (struct dump_thread){.tid = p->pid + (pid_t)p->n_threads, .main = p->n_threads == 0};
	p->n_threads++;
	t->wait.fd = -1;
	t->wait.state = 'S';
	TEXT_COPY(t->name, p->name);
	struct dump_frame *f = calloc(32, sizeof(*f));
	assert_non_null(f);
	size_t n = 0;
	struct dump_frame all[32];
	while (n < 32 && span_word(&rest, &word)) {
		bool native = span_has(word, "!");
		struct span where = span_before(word, native ? "!" : ":"), name = span_after(word, native ? "!" : ":");
		all[n] = (struct dump_frame){.kind = native ? FRAME_NATIVE : FRAME_PYTHON,
					     .name = strndup(name.p, name.len)};
		*(native ? &all[n].module : &all[n].file) = strndup(where.p, where.len);
		n++;
	}
	for (size_t i = 0; i < n; i++)
		f[i] = all[n - 1 - i];
	t->frames = f;
	t->n_frames = n;
}

static struct dump_process *process_add(struct job *j, pid_t pid, int32_t rank, const char *name, const char *frames)
{
	struct stackdump *d = &j->stacks;
	d->processes = reallocarray(d->processes, d->n + 1, sizeof(*d->processes));
	assert_non_null(d->processes);
	struct dump_process *p = &d->processes[d->n++];
	*p = (struct dump_process){.pid = pid, .rank = rank};
	TEXT_COPY(p->name, name);
	thread_add(p, frames);
	d->captured_unix_ms = now_ms;
	return p;
}

static void expect(const struct job *j, const char *id, size_t n_culprits, int32_t first)
{
	const struct cause_verdict *v = &j->r->verdict;
	if (!v->valid || strcmp(v->id, id) != 0)
		fail_msg("expected %s, got %s: %s", id, v->valid ? v->id : "none", v->text);
	assert_true(v->n_advice > 0);
	assert_int_equal(v->n_culprits, n_culprits);
	if (n_culprits > 0)
		assert_int_equal(v->culprits[0], first);
}

/* ---- the cases of the documents */

static void copy_to_an_object_store_that_stands(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 500, 0, "python",
		    "train.py:main moxing/framework/file/file_io.py:copy_parallel pool.py:Pool.map");
	process_add(&j, 501, 1, "python", "train.py:main distributed_c10d.py:barrier");
	job_ask(&j);
	expect(&j, "copy_to_object_store", 1, 0);
	assert_non_null(strstr(j.r->verdict.advice[1], "is_processing=False"));
	/* a reader in the kernel below it is proof */
	struct dump_thread *t = &j.stacks.processes[0].threads[0];
	t->wait.state = 'D';
	TEXT_COPY(t->wait.wchan, "rpc_wait_bit_killable");
	t->wait.fd = 7;
	TEXT_COPY(t->wait.target, "/data/set on nfs4 store:/export");
	job_ask(&j);
	assert_true(j.r->verdict.confidence >= RULE_MEDIUM);
	assert_int_equal(j.r->verdict.culprits[0], 0);
	job_end(&j);
}

static void a_copy_from_nfs_in_the_kernel(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	struct dump_process *p = process_add(&j, 500, 1, "python", "train.py:main shutil.py:copyfile");
	p->threads[0].wait.state = 'D';
	TEXT_COPY(p->threads[0].wait.wchan, "folio_wait_bit_common");
	p->threads[0].wait.fd = 7;
	TEXT_COPY(p->threads[0].wait.target, "/data/set on nfs4 store:/export");
	kernel_says(&j, "3", "nfs: server store not responding, still trying");
	kernel_says(&j, "3", "INFO: task python:500 blocked for more than 120 seconds.");
	job_ask(&j);
	assert_true(strcmp(j.r->verdict.id, "nfs_not_responding") == 0);
	bool stall = false;
	for (size_t i = 0; i < j.r->verdict.n_others; i++)
		stall |= strcmp(j.r->verdict.others[i], "storage_stall") == 0;
	assert_true(stall);
	assert_int_equal(j.r->verdict.confidence, RULE_HIGH);
	job_end(&j);
}

static void nothing_of_nccl_and_a_rank_given_twice(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 4);
	for (size_t i = 0; i < 4; i++) {
		char env[200];
		TEXT_FORMAT(env, "RANK=%zu WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 NCCL_DEBUG=INFO",
			    i == 3 ? 1 : i);
		rank_start(&j, i, env);
		write_text(j.log[i], "starting\nbuilding the model\n");
	}
	process_add(&j, j.children[0], 0, "python", "train.py:main torch/distributed/rendezvous.py:_create_c10d_store");
	job_ask(&j);
	expect(&j, "rank_given_twice", 1, 1);
	assert_int_equal(j.r->verdict.confidence, RULE_HIGH);
	bool silent = false;
	for (size_t i = 0; i < j.r->verdict.n_others; i++)
		silent |= strcmp(j.r->verdict.others[i], "nothing_from_nccl") == 0;
	assert_true(silent);
	assert_int_equal(j.r->env.finding[0].kind, RANKENV_RANK_TWICE);
	job_end(&j);
}

static void a_rank_without_master_and_one_without_rank(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 3);
	rank_start(&j, 0, "RANK=0 WORLD_SIZE=3 MASTER_ADDR=n1 MASTER_PORT=29500");
	rank_start(&j, 1, "RANK=1 WORLD_SIZE=3 MASTER_PORT=29500");
	rank_start(&j, 2, "RANK=2 WORLD_SIZE=3 MASTER_ADDR=n1 MASTER_PORT=29500");
	job_ask(&j);
	expect(&j, "master_not_set", 1, 1);
	rulegather_free(j.g);
	j.g = NULL;
	kill(j.children[1], SIGKILL);
	waitpid(j.children[1], NULL, 0);
	rank_start(&j, 1, "WORLD_SIZE=3 MASTER_ADDR=n1 MASTER_PORT=29500");
	j.ranks[1].rank = NO_RANK;
	job_ask(&j);
	expect(&j, "rank_not_set", 0, 0);
	job_end(&j);
}

static void nccl_that_is_silent_because_nobody_asked_it_is_no_finding(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	for (size_t i = 0; i < 2; i++) {
		char env[100];
		TEXT_FORMAT(env, "RANK=%zu WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 NCCL_DEBUG=WARN", i);
		rank_start(&j, i, env);
		write_text(j.log[i], "starting\n");
	}
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	assert_int_equal(j.r->env.n_findings, 0);
	job_end(&j);
}

#define CHANNEL(host, how)                                                                                             \
	"modelarts-job-a7-" host ":1136:1191 [2] NCCL INFO Channel 00 : 3[5f000] -> 10[5b000] [receive] via " how "\n"

static void gpudirect_on_some_nodes_only(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	write_text(j.log[0], CHANNEL("worker-1", "NET/IB/0/GDRDMA") CHANNEL("worker-1", "P2P/IPC"));
	write_text(j.log[1], CHANNEL("worker-2", "P2P/IPC") CHANNEL("worker-2", "NET/IB/0"));
	job_ask(&j);
	expect(&j, "gdr_mismatch", 0, 0);
	assert_non_null(strstr(j.r->verdict.text, "worker-2 does not"));
	assert_non_null(strstr(j.r->verdict.advice[0], "NCCL_NET_GDR_LEVEL=0"));
	job_end(&j);
}

static void completion_error_12_with_its_variables(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	rank_start(&j, 0, "RANK=0 WORLD_SIZE=2 NCCL_IB_TIMEOUT=18");
	write_text(j.log[0],
		   "n1:9:9 [0] NCCL INFO NCCL version 2.10.3+cuda11.3\n"
		   "n1:9:9 [0] transport/net_ib.cc:839 NCCL WARN NET/IB : Got completion with error 12, opcode 1, "
		   "len 32478, vendor err 129\n");
	job_ask(&j);
	expect(&j, "ib_retry_exceeded", 0, 0);
	assert_non_null(strstr(j.r->verdict.text, "4.096 us x 2^18 x 7 = 7.52 s"));
	assert_non_null(strstr(j.r->verdict.advice[1], "NCCL_IB_TIMEOUT=22, which waits 4.096 us x 2^22 x 7 = 120 s"));
	assert_non_null(strstr(j.r->verdict.advice[1], "NCCL_IB_GID_INDEX=3"));
	assert_non_null(strstr(j.r->verdict.advice[1], "NCCL_IB_TC"));
	rulegather_free(j.g);
	j.g = NULL;
	/* without the variable it is what that version takes by itself */
	j.ranks[0].pid = 0;
	job_ask(&j);
	assert_non_null(strstr(j.r->verdict.text, "4.096 us x 2^14 x 7 = 0.47 s"));
	job_end(&j);
}

static void one_rank_s_error_and_the_job_lives(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 4);
	for (size_t i = 0; i < 4; i++)
		write_text(j.log[i], "step 10 loss 1.0\nstep 11 loss 0.9\n");
	append_text(j.log[2],
		    "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\n"
		    "RuntimeError: shapes do not fit\n");
	append_text(j.log[1],
		    "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    save()\n"
		    "OSError: disk is slow, trying again\nstep 12 loss 0.8\n");
	job_ask(&j);
	expect(&j, "one_rank_failed", 1, 2);
	assert_non_null(strstr(j.r->verdict.text, "RuntimeError: shapes do not fit"));
	/* it has gone on: that was no end */
	append_text(j.log[2], "step 12 loss 0.7\nstep 13 loss 0.7\n");
	job_ask(&j);
	assert_int_equal(j.r->error[0], '\0');
	job_end(&j);
}

static void a_rank_that_ended_badly_is_an_error_too(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 4);
	j.ranks[3].ended = j.ranks[3].has_exit_code = true;
	j.ranks[3].exit_code = 1;
	job_ask(&j);
	expect(&j, "one_rank_failed", 1, 3);
	job_end(&j);
}

static void all_ranks_in_sync_batch_norm(void **state)
{
	(void)state;
	const char *in = "train.py:main torch/nn/modules/batchnorm.py:SyncBatchNorm.forward "
			 "torch/nn/modules/_functions.py:SyncBatchNorm.forward "
			 "torch/distributed/distributed_c10d.py:all_gather_into_tensor";
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 500, 0, "python", in);
	process_add(&j, 501, 1, "python", in);
	job_ask(&j);
	expect(&j, "sync_batch_norm", 0, 0);
	stackdump_done(&j.stacks);
	process_add(&j, 500, 0, "python", in);
	process_add(&j, 501, 1, "python", "train.py:main data.py:next");
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	job_end(&j);
}

static void tensorboard_on_a_remote_store(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	struct dump_process *p =
		process_add(&j, 500, 0, "python",
			    "train.py:main torch/utils/tensorboard/writer.py:SummaryWriter.add_scalar "
			    "tensorboard/summary/writer/event_file_writer.py:EventFileWriter.add_event "
			    "queue.py:Queue.put");
	thread_add(p, "threading.py:Thread._bootstrap tensorboard/summary/writer/event_file_writer.py:"
		      "_AsyncWriterThread._run tensorboard/compat/tensorflow_stub/io/gfile.py:write");
	p->threads[1].wait.fd = 9;
	TEXT_COPY(p->threads[1].wait.target, "/obs/log/events.out.tfevents.1 on fuse.obsfs bucket");
	job_ask(&j);
	expect(&j, "writer_on_remote_store", 1, 0);
	assert_int_equal(j.r->verdict.confidence, RULE_MEDIUM);
	job_end(&j);
}

static void a_writer_that_waits_for_work_is_idle(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	struct dump_process *p = process_add(&j, 500, 0, "python", "train.py:main train.py:step");
	thread_add(p, "threading.py:Thread._bootstrap tensorboard/summary/writer/event_file_writer.py:"
		      "_AsyncWriterThread._run queue.py:Queue.get threading.py:Condition.wait");
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	job_end(&j);
}

static const char *const loader_wait =
	"train.py:main torch/utils/data/dataloader.py:_MultiProcessingDataLoaderIter._next_data "
	"torch/utils/data/dataloader.py:_MultiProcessingDataLoaderIter._try_get_data queue.py:Queue.get";

static void a_worker_that_inherited_a_held_lock(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 500, 1, "python", loader_wait);
	struct dump_process *p =
		process_add(&j, 510, 1, "pt_data_worker",
			    "torch/utils/data/_utils/worker.py:_worker_loop data.py:fetch logging.py:acquire");
	p->threads[0].wait.kind = WAIT_LOCK;
	p->threads[0].wait.owner_gone = true;
	job_ask(&j);
	expect(&j, "fork_with_lock", 1, 1);
	assert_int_equal(j.r->verdict.confidence, RULE_HIGH);
	assert_non_null(strstr(j.r->verdict.text, "pid 510"));
	job_end(&j);
}

static void a_worker_in_openmp_after_fork(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 500, 0, "python", loader_wait);
	struct dump_process *p =
		process_add(&j, 510, 0, "pt_data_worker",
			    "torch/utils/data/_utils/worker.py:_worker_loop libgomp.so.1!GOMP_parallel");
	TEXT_COPY(p->threads[0].wait.wchan, "futex_do_wait");
	job_ask(&j);
	expect(&j, "openmp_after_fork", 1, 0);
	job_end(&j);
}

static void shared_memory_that_is_full(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	write_text(j.log[1], "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
			     "shared memory (shm).\n");
	job_ask(&j);
	expect(&j, "loader_bus_error", 1, 1);
	job_end(&j);
}

static void too_many_workers(void **state)
{
	(void)state;
	struct job j;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	job_begin(&j, 1);
	process_add(&j, 500, 0, "python", loader_wait);
	for (long i = 0; i <= cpus; i++)
		process_add(&j, 510 + (pid_t)i, 0, "pt_data_worker",
			    "torch/utils/data/_utils/worker.py:_worker_loop read.py:decode");
	job_ask(&j);
	bool told = strcmp(j.r->verdict.id, "loader_too_many_workers") == 0;
	for (size_t i = 0; i < j.r->verdict.n_others; i++)
		told |= strcmp(j.r->verdict.others[i], "loader_too_many_workers") == 0;
	assert_true(j.r->verdict.valid && told);
	assert_int_equal(j.r->verdict.confidence, RULE_LOW);
	job_end(&j);
}

#define SEED(rank, epoch, step)                                                                                        \
	"[2022-04-26 13:57:20,757][INFO][train_epoch]:Rank:" rank " Epoch:[" epoch "][" step                           \
	"/all] Data Time 0.000(0.000) Net Time 0.705(0.890) Loss 0.3403(0.3792)LR 0.00021887\n"

static void ranks_in_different_epochs(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 8);
	/* one file for all, as the document shows it */
	for (size_t i = 1; i < 8; i++)
		j.ranks[i].err = j.ranks[0].err;
	write_text(j.log[0], SEED("2", "48", "20384") SEED("1", "48", "20384") SEED("4", "49", "20384")
				     SEED("3", "49", "20384") SEED("0", "49", "20384") SEED("7", "49", "20384")
					     SEED("5", "48", "20384") SEED("6", "49", "20384"));
	job_ask(&j);
	expect(&j, "uneven_last_epoch", 3, 2);
	assert_non_null(strstr(j.r->verdict.advice[0], "DistributedSampler"));
	job_end(&j);
}

static void ranks_that_are_done_and_ranks_that_wait_for_them(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 4);
	for (size_t i = 0; i < 4; i++)
		write_text(j.log[i], "Epoch 2 step 98/100 loss 1\nEpoch 2 step 99/100 loss 1\n");
	j.ranks[0].ended = j.ranks[0].has_exit_code = true;
	job_ask(&j);
	expect(&j, "uneven_last_epoch", 1, 0);
	assert_int_equal(j.r->pace.kind, RANKPACE_ENDED_EARLY);
	job_end(&j);
}

static void a_healthy_job_has_no_cause(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 4);
	for (size_t i = 0; i < 4; i++) {
		char env[200];
		TEXT_FORMAT(env, "RANK=%zu WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 NCCL_DEBUG=INFO", i);
		rank_start(&j, i, env);
		write_text(j.log[i],
			   "n1:9:9 [0] NCCL INFO Bootstrap : Using eth0\nstep 10 loss=1.0\nstep 11 loss=0.9\n");
		process_add(&j, j.children[i], (int32_t)i, "python",
			    "train.py:main torch/nn/modules/linear.py:forward");
	}
	job_ask(&j);
	if (j.r->verdict.valid)
		fail_msg("%s: %s", j.r->verdict.id, j.r->verdict.text);
	assert_int_equal(j.r->env.n_findings, 0);
	assert_int_equal(j.r->pace.kind, RANKPACE_EVEN);
	job_end(&j);
}

/* ---- the kernel's log */

static bool knows_78(const void *data, pid_t pid)
{
	(void)data;
	return pid == 78;
}

static void a_process_of_the_job_in_the_kernel_s_log_confirms(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 4711, 1, "python", "train.py:main");
	kernel_says(&j, "3", "INFO: task backup:77 blocked for more than 120 seconds.");
	kernel_says(&j, "3", "INFO: task python:4711 blocked for more than 120 seconds.");
	job_ask(&j);
	expect(&j, "task_blocked", 1, 1);
	assert_non_null(strstr(j.r->verdict.text, "pid 4711"));
	/* one that is gone by now */
	j.want.knows = knows_78;
	kernel_says(&j, "3", "Out of memory: Killed process 78 (worker) total-vm:1kB, anon-rss:1kB");
	job_ask(&j);
	expect(&j, "kernel_oom_kill", 0, 0);
	job_end(&j);
}

static void somebody_else_s_process_in_the_kernel_s_log_is_his(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	process_add(&j, 4711, 1, "python", "train.py:main");
	kernel_says(&j, "3", "INFO: task backup:77 blocked for more than 120 seconds.");
	kernel_says(&j, "3", "Out of memory: Killed process 77 (backup) total-vm:1kB, anon-rss:1kB");
	kernel_says(&j, "3", "NVRM: Xid (PCI:0000:05:00): 43, pid=77, name=python3, channel 0x0000000a");
	/* a program can write there what it likes, but not as the kernel */
	kernel_says(&j, "14", "NVRM: Xid (PCI:0000:05:00): 79, pid=4711, somebody wrote this");
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	/* an error of a GPU in another's hands is told with less confidence */
	kernel_says(&j, "3", "NVRM: Xid (PCI:0000:05:00): 119, pid=77, name=x, Timeout waiting for RPC");
	job_ask(&j);
	expect(&j, "xid_firmware", 0, 0);
	assert_int_equal(j.r->verdict.confidence, RULE_MEDIUM);
	job_end(&j);
}

static void nobody_waits_for_a_reader(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 1);
	job_make(&j);
	uint64_t before_ns = clock_mono_ns();
	rulegather_baseline(j.g, getpid());
	/* a second beginning gives up the first, and freeing gives up all */
	rulegather_begin(j.g, &j.want, j.r);
	ignore(rulegather_step(j.g), "whether or not");
	assert_true(clock_mono_ns() - before_ns < 400 * NS_PER_MS);
	j.g = rulegather_free(j.g);
	while (waitpid(-1, NULL, WNOHANG) >= 0) /* who was killed may take its time to go, but nobody lives on */
		assert_true(clock_mono_ns() - before_ns < 10 * NS_PER_S);
	job_end(&j);
}

static void counters_are_compared_with_their_beginning(void **state)
{
	(void)state;
	struct job j;
	char dir[200], path[300];
	job_begin(&j, 1);
	TEXT_FORMAT(dir, "%s/class/infiniband/mlx5_0/ports/1/counters", j.dir);
	for (char *at = dir + strlen(j.dir) + 1; at; at = at ? at + 1 : NULL) {
		at = strchr(at, '/');
		TEXT_FORMAT(path, "%.*s", at ? (int)(at - dir) : (int)strlen(dir), dir);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	TEXT_FORMAT(path, "%s/../state", dir);
	write_text(path, "4: ACTIVE\n");
	TEXT_FORMAT(path, "%s/link_downed", dir);
	write_text(path, "3\n");
	job_make(&j);
	rulegather_baseline(j.g, 0);
	while (!rulegather_step(j.g))
		(void)poll(NULL, 0, 5);
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	write_text(path, "4\n");
	job_ask(&j);
	expect(&j, "ib_link_lost", 0, 0);
	job_end(&j);
}

/* ---- logs of every kind */

static void only_what_is_new_is_read(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 1);
	write_text(j.log[0], "line\nhalf a li");
	/* the files are younger than this test's clock: their last lines may go on */
	job_ask(&j);
	assert_int_equal(j.r->log_bytes, 14);
	append_text(j.log[0], "ne\nRuntimeError: DataLoader timed out after 6");
	job_ask(&j);
	assert_int_equal(j.r->log_bytes, strlen("half a line\nRuntimeError: DataLoader timed out after 6"));
	assert_false(j.r->verdict.valid);
	append_text(j.log[0], "0 seconds\n");
	job_ask(&j);
	expect(&j, "loader_timeout", 1, 0);
	assert_non_null(strstr(j.r->verdict.evidence[0].source, "rank 0 stderr:3"));
	job_ask(&j);
	assert_int_equal(j.r->log_bytes, 0);
	expect(&j, "loader_timeout", 1, 0);
	job_end(&j);
}

static void logs_that_shrink_or_are_replaced_are_read_from_their_start(void **state)
{
	(void)state;
	struct job j;
	char path[160];
	job_begin(&j, 1);
	write_text(j.log[0], "a long line that will be gone\nand another one\n");
	job_ask(&j);
	write_text(j.log[0], "DataLoader timed out after 5 s\n");
	job_ask(&j);
	expect(&j, "loader_timeout", 1, 0);
	TEXT_FORMAT(path, "%s.new", j.log[0]);
	write_text(path,
		   "CUDA error: unspecified launch failure, and a lot more text than there was before in this place\n");
	assert_int_equal(rename(path, j.log[0]), 0);
	job_ask(&j);
	assert_int_equal(j.r->verdict.n_others, 1);
	assert_string_equal(j.r->verdict.others[0], "cuda_illegal_access");
	assert_int_equal(unlink(j.log[0]), 0);
	job_ask(&j);
	assert_int_equal(j.r->n_unavailable, 1);
	assert_non_null(strstr(j.r->unavailable[0], "No such file"));
	job_end(&j);
}

static void ten_gigabytes_and_garbage_are_bounded(void **state)
{
	(void)state;
	struct job j;
	const char *last = "\nDataLoader timed out after 60 seconds\n";
	job_begin(&j, 2);
	int fd = open(j.log[0], O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	/* a hole: ten gigabytes of zeros */
	assert_int_equal(pwrite(fd, last, strlen(last), (off_t)10 << 30), (ssize_t)strlen(last));
	close(fd);
	fd = open(j.log[1], O_WRONLY | O_CLOEXEC);
	char block[4096];
	uint64_t x = 88172645463325252ULL;
	for (size_t n = 0; n < 2048; n++) {
		for (size_t i = 0; i < sizeof(block); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			block[i] = (char)x;
		}
		assert_int_equal(file_write_all(fd, block, sizeof(block)), 0);
	}
	close(fd);
	j.want.budget_ns = 30 * NS_PER_S; /* under sanitizers, on a busy machine */
	job_ask(&j);
	expect(&j, "loader_timeout", 1, 0);
	assert_true(j.r->log_bytes <= 11 * MIB);
	assert_non_null(strstr(j.r->verdict.evidence[0].source, "later part"));
	job_end(&j);
}

static void a_spent_budget_is_told_and_the_rest_is_read_later(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	write_text(j.log[1], "DataLoader timed out after 60 seconds\n");
	j.want.budget_ns = 1;
	job_ask(&j);
	assert_false(j.r->verdict.valid);
	assert_true(j.r->n_unavailable > 0);
	assert_non_null(strstr(j.r->unavailable[0], "no time was left"));
	j.want.budget_ns = 0;
	job_ask(&j);
	expect(&j, "loader_timeout", 1, 1);
	job_end(&j);
}

static void what_is_no_file_is_told(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j, 2);
	assert_int_equal(unlink(j.log[0]), 0);
	assert_int_equal(mkfifo(j.log[0], 0600), 0);
	write_text(j.log[1], "DataLoader timed out after 60 seconds\n");
	job_ask(&j);
	expect(&j, "loader_timeout", 1, 1);
	assert_non_null(strstr(j.r->unavailable[0], "no ordinary file"));
	job_end(&j);
}

/* A file system whose server has died: nobody answers on /dev/fuse. Needs root and a mount namespace of its own. */
static void dead_mount_child(struct job *j)
{
	char path[160], options[128];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	TEXT_FORMAT(path, "%s/dead", j->dir);
	if (fuse < 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(path, 0700) < 0)
		_exit(77);
	TEXT_FORMAT(options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (mount("test", path, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		_exit(77);
	char dead[2][200];
	TEXT_FORMAT(dead[0], "%s/out", path);
	TEXT_FORMAT(dead[1], "%s/err", path);
	j->ranks[0].err = dead[0];
	j->ranks[1].err = dead[1];
	write_text(j->log[2], "DataLoader timed out after 60 seconds\n");
	uint64_t begin = clock_mono_ns();
	job_ask(j);
	uint64_t took_ms = (clock_mono_ns() - begin) / NS_PER_MS;
	if (!j->r->verdict.valid || strcmp(j->r->verdict.id, "loader_timeout") != 0)
		_exit(2);
	if (j->r->n_unavailable < 2 || !strstr(j->r->unavailable[0], "does not answer"))
		_exit(3);
	if (took_ms > 10000)
		_exit(4);
	/* told again, and not waited for again where the reader hangs still; where it is gone one is tried */
	job_ask(j);
	_exit(j->r->n_unavailable >= 1 ? 0 : 5);
}

static void a_log_on_a_dead_file_system_keeps_nobody(void **state)
{
	(void)state;
	struct job j;
	int status;
	job_begin(&j, 3);
	pid_t pid = fork();
	if (pid == 0)
		dead_mount_child(&j);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	job_end(&j);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void wrong_rules_are_told(void **state)
{
	(void)state;
	struct job j;
	struct fault f = {.text = ""};
	char path[128];
	job_begin(&j, 1);
	TEXT_FORMAT(path, "%s/mine.rules", j.dir);
	write_text(path, "rule x\nsource: log\nrole: rot\n");
	assert_true(rulegather_new(&j.w, path, NULL, 0, &j.g, &f) < 0);
	assert_non_null(strstr(f.text, "mine.rules:3:"));
	assert_null(j.g);
	write_text(path, "rule mine\nsource: log\nrole: root\nblame: self\nall: my library gave up\ncause: it "
			 "did\nadvice: do\n");
	assert_int_equal(rulegather_new(&j.w, path, NULL, 0, &j.g, &f), 0);
	write_text(j.log[0], "my library gave up\n");
	job_ask(&j);
	expect(&j, "mine", 1, 0);
	job_end(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_to_an_object_store_that_stands),
		cmocka_unit_test(a_copy_from_nfs_in_the_kernel),
		cmocka_unit_test(nothing_of_nccl_and_a_rank_given_twice),
		cmocka_unit_test(a_rank_without_master_and_one_without_rank),
		cmocka_unit_test(nccl_that_is_silent_because_nobody_asked_it_is_no_finding),
		cmocka_unit_test(gpudirect_on_some_nodes_only),
		cmocka_unit_test(completion_error_12_with_its_variables),
		cmocka_unit_test(one_rank_s_error_and_the_job_lives),
		cmocka_unit_test(a_rank_that_ended_badly_is_an_error_too),
		cmocka_unit_test(all_ranks_in_sync_batch_norm),
		cmocka_unit_test(tensorboard_on_a_remote_store),
		cmocka_unit_test(a_writer_that_waits_for_work_is_idle),
		cmocka_unit_test(a_worker_that_inherited_a_held_lock),
		cmocka_unit_test(a_worker_in_openmp_after_fork),
		cmocka_unit_test(shared_memory_that_is_full),
		cmocka_unit_test(too_many_workers),
		cmocka_unit_test(ranks_in_different_epochs),
		cmocka_unit_test(ranks_that_are_done_and_ranks_that_wait_for_them),
		cmocka_unit_test(a_healthy_job_has_no_cause),
		cmocka_unit_test(a_process_of_the_job_in_the_kernel_s_log_confirms),
		cmocka_unit_test(somebody_else_s_process_in_the_kernel_s_log_is_his),
		cmocka_unit_test(nobody_waits_for_a_reader),
		cmocka_unit_test(counters_are_compared_with_their_beginning),
		cmocka_unit_test(only_what_is_new_is_read),
		cmocka_unit_test(logs_that_shrink_or_are_replaced_are_read_from_their_start),
		cmocka_unit_test(ten_gigabytes_and_garbage_are_bounded),
		cmocka_unit_test(a_spent_budget_is_told_and_the_rest_is_read_later),
		cmocka_unit_test(what_is_no_file_is_told),
		cmocka_unit_test(a_log_on_a_dead_file_system_keeps_nobody),
		cmocka_unit_test(wrong_rules_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
