/*
 * Reads sources that can block their reader for ever in short-lived child
 * processes. A child works through the tasks in order and writes its results
 * into memory that it shares with us; those of a task are valid when its done
 * flag is set. When a task makes no progress, its child is killed and reaped
 * later; should it ever wake, it dies before it can write. A new child goes on
 * with the task after the one that did not answer.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/rules/rulegather_parts.h"
#include "sense/framework/errorfile.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/collective/ncclversion.h"
#include "sense/framework/lasterror.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"

/* Positions and errors are searched in this many bytes at the end of what is new. */
#define RECENT ((size_t)128 * 1024)
/* After this time without a write, a last line without a line feed is taken as complete. */
#define QUIET_MS 1000
/* A reader stops by itself at the deadline; after this time more it is taken as hanging. */
#define GRACE_NS (200 * NS_PER_MS)
/* Wait at most this long for a killed reader to end. */
#define STOP_MS 20

void rulegather_unavailable(struct rulegather_result *r, const char *fmt, ...)
{
	va_list ap;
	if (!r || r->n_unavailable == RULEGATHER_UNAVAILABLE)
		return;
	struct buf b = BUF_ON(r->unavailable[r->n_unavailable]);
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	r->n_unavailable++;
}

/* ---- in the child ---- */

struct reader {
	struct rulegather *g;
	struct ruleread_shared *s;
	uint64_t deadline_ns;
	struct ruleread_log *log; /* current log */
	uint64_t stream_lines; /* lines before the start of this stream */
	uint32_t n_matches; /* including those of the current task */
};

static struct reader child; /* one child, one thread */

static void beat(void)
{
	__atomic_add_fetch(&child.s->beat, 1, __ATOMIC_RELEASE);
}

void ruleread_match(struct rulegather *g, const struct rule_match *m)
{
	(void)g;
	if (child.n_matches == RULEREAD_MATCHES) {
		child.s->n_dropped++;
		return;
	}
	struct rule_match *to = &child.s->match[child.n_matches++];
	*to = *m;
	to->line += child.stream_lines;
}

static bool has_words(const char *p, size_t n, const char *words)
{
	return memmem(p, n, words, strlen(words)) != NULL;
}

/* Length up to the end of the last whole line; adds the number of those lines to *lines. */
static size_t whole_lines(const char *p, size_t n, uint64_t *lines)
{
	size_t whole = 0;
	for (const char *at = p; (at = memchr(at, '\n', n - (size_t)(at - p))) != NULL; at++) {
		whole = (size_t)(at - p) + 1;
		(*lines)++;
		if (whole == n)
			break;
	}
	return whole;
}

/* Matches [from, to) against the rules. l->offset moves to the end of the last whole line, or to `to` if all is set. */
static int part_read(struct ruleread_log *l, int fd, uint64_t from, uint64_t to, bool all)
{
	struct rulegather *g = child.g;
	uint64_t at = from, lines = l->lines;
	/* matches keep a pointer to the name: it must outlive the shared memory */
	const struct ruleread_log *names = &g->log[l - child.s->log];
	child.stream_lines = l->lines;
	int r = rulescan_begin(g->scan, RULE_LOG, l->skipped ? names->label_later : names->label, l->rank);
	l->offset = from;
	while (r == 0 && at < to) {
		char *room;
		size_t want = (size_t)MIN((uint64_t)rulescan_room(g->scan, &room), to - at), n;
		if (child.g->w->mono_ns() >= child.deadline_ns) {
			child.s->over = true;
			return 0; /* the next call goes on at l->offset */
		}
		r = file_read_from(fd, at, room, want, &n);
		if (r < 0 || n == 0)
			break;
		l->has_nccl = l->has_nccl || has_words(room, n, "NCCL INFO") || has_words(room, n, "NCCL WARN");
		if (l->has_nccl && !child.s->nccl_version[0])
			(void)nccl_version_find((struct span){room, n}, child.s->nccl_version);
		size_t whole = whole_lines(room, n, &lines);
		at += n;
		child.s->log_bytes += n;
		if (whole > 0) {
			l->offset = at - n + whole;
			l->lines = lines;
		}
		r = rulescan_filled(g->scan, n);
		beat();
	}
	if (r == 0 && all) {
		r = rulescan_end(g->scan);
		l->offset = at;
	}
	return r;
}

/* The rank that a line of a shared log names anywhere in it: "…[train_epoch]:Rank:2 Epoch:[48]…". */
static int32_t rank_within(struct span line)
{
	static const char *const keys[] = {"Rank:", "rank:", "rank=", "Rank=", "[rank", "[Rank "};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct span after = span_after(line, keys[i]);
		uint64_t v;
		if (after.p && span_u64_prefix(span_trim(after), &v) == 0 && v < INT32_MAX)
			return (int32_t)v;
	}
	return NO_RANK;
}

/* Feeds all lines of progress. True: there was at least one, of any rank. */
static bool pace_feed(struct rankpace *pace, int32_t rank, const struct progress_patterns *user, char *text, size_t len)
{
	bool any = false;
	struct ansi ansi = {.state = 0};
	len = ansi_strip(&ansi, text, len);
	for (size_t at = 0; at < len;) {
		size_t end = at;
		struct progress_line p;
		while (end < len && text[end] != '\n' && text[end] != '\r')
			end++;
		struct span line = {text + at, end - at};
		if (line.len > 0 && progress_parse(line, user, &p) == 0) {
			if (p.rank == NO_RANK && rank == NO_RANK)
				p.rank = rank_within(line);
			rankpace_line(pace, &p, rank, end - at + 1);
			any = true;
		}
		at = end + 1;
	}
	return any;
}

static void error_drop(struct ruleread_log *l, size_t at)
{
	l->n_last_errors--;
	memmove(&l->last_error[at], &l->last_error[at + 1], (l->n_last_errors - at) * sizeof(l->last_error[0]));
}

static void error_keep(struct ruleread_log *l, const struct lasterror *e)
{
	size_t at = 0;
	while (at < l->n_last_errors && l->last_error[at].rank != e->rank)
		at++;
	if (at == RULEREAD_ERRORS)
		return;
	l->n_last_errors = MAX(l->n_last_errors, at + 1);
	l->last_error[at] = *e;
}

static uint64_t pace_lines(const struct rankpace *pace, int32_t rank)
{
	uint64_t n = 0;
	for (size_t i = 0; i < pace->n; i++)
		n += rank == NO_RANK || pace->of[i].rank == rank ? pace->of[i].n_lines : 0;
	return n;
}

/* Updates positions and last errors from the end of what is new. */
static void recent_read(struct ruleread_log *l, int fd, uint64_t from, struct rankpace *pace)
{
	static char text[RECENT], scratch[RECENT];
	static struct rankpace before; /* large */
	struct lasterror found[RULEREAD_ERRORS];
	size_t len;
	bool named;
	uint64_t at = l->offset > RECENT ? MAX(from, l->offset - RECENT) : from;
	if (l->offset <= at || file_read_from(fd, at, text, (size_t)MIN(l->offset - at, (uint64_t)RECENT), &len) < 0)
		return;
	beat();
	size_t n = lasterror_each((struct span){text, len}, l->rank, child.g->progress, scratch, found,
				  ARRAY_SIZE(found), &named);
	l->names_ranks |= named;
	before = *pace;
	bool any = pace_feed(pace, l->rank, child.g->progress, text, len);
	/*
	 * A rank that made steps after its error did not end by it. Steps without a rank may belong to the rank that
	 * wrote an error without a rank.
	 */
	for (size_t i = l->n_last_errors; i-- > 0;) {
		int32_t rank = l->last_error[i].rank;
		if (pace_lines(pace, rank) > pace_lines(&before, rank) || (any && rank == NO_RANK))
			error_drop(l, i);
	}
	for (size_t i = 0; i < n; i++)
		error_keep(l, &found[i]);
}

/* Resets what is known of the log unless it is the same file and has not shrunk. */
static void log_place(struct ruleread_log *l, const struct stat *st)
{
	bool same = l->known && l->dev == st->st_dev && l->ino == st->st_ino && (uint64_t)st->st_size >= l->offset;
	if (same)
		return;
	l->known = true;
	l->dev = st->st_dev;
	l->ino = st->st_ino;
	l->offset = l->lines = l->size = 0;
	l->skipped = l->has_nccl = l->names_ranks = false;
	l->n_last_errors = 0;
}

/* Offset after the first line feed from `at` on, so that half a line is not taken for a whole one. */
static uint64_t line_behind(int fd, uint64_t at)
{
	char text[4096];
	size_t len;
	if (file_read_from(fd, at, text, sizeof(text), &len) < 0)
		return at;
	const char *nl = memchr(text, '\n', len);
	return nl ? at + (uint64_t)(nl - text) + 1 : at;
}

/* A file that vigil keeps or a person named, or what a process writes to through a descriptor of its own. */
static int log_open(const char *path, int *ret_fd)
{
	pid_t pid;
	int fd;
	if (world_fd_parse(path, &pid, &fd)) {
		int r = procfile_written(child.g->w, pid, fd, ret_fd);
		return r > 0 ? r == WORLD_DENIED ? -EACCES : -ENOENT : r;
	}
	const struct foreign_place at = {.dirfd = AT_FDCWD, .flags = FOREIGN_LINKS | FOREIGN_TYPED};
	int r = foreign_open(&at, path, ret_fd);
	return r > 0 ? -EINVAL : r;
}

static int log_read(struct ruleread_log *l, struct rankpace *pace)
{
	struct stat st;
	cleanup(closep) int fd = -1;
	int opened = log_open(l->path, &fd);
	if (opened < 0)
		return opened;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	beat();
	log_place(l, &st);
	uint64_t size = (uint64_t)st.st_size, from = l->offset;
	int64_t age_ms = child.g->w->unix_ms() - ((int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000);
	bool all = age_ms >= QUIET_MS || (l->size == size && size > 0);
	bool first = from == 0, jump = first ? size > RULEREAD_HEAD + RULEREAD_TAIL : size - from > RULEREAD_NEW;
	int r = jump && first ? part_read(l, fd, 0, RULEREAD_HEAD, false) : 0;
	from = l->offset;
	if (jump && r == 0 && !child.s->over) {
		from = line_behind(fd, size - RULEREAD_TAIL);
		l->skipped = true;
		l->lines = 0;
	}
	if (r == 0 && !child.s->over && from < size)
		r = part_read(l, fd, from, size, all);
	l->size = size;
	if (r == 0)
		recent_read(l, fd, from, pace);
	return r;
}

static void log_task(uint32_t index)
{
	struct ruleread_shared *s = child.s;
	struct ruleread_log *l = &s->log[index];
	uint32_t other = 1 - s->pace_now;
	s->pace[other] = s->pace[s->pace_now];
	l->error = log_read(l, &s->pace[other]);
	s->pace_now = other;
}

static void environ_task(uint32_t index)
{
	struct ruleread_shared *s = child.s;
	pid_t pid = child.g->want->ranks[index].pid;
	s->environ_read[index] =
		proc_environ_read(child.g->w, pid, s->environ[index], RULEREAD_ENVIRON, &s->environ_len[index]) == 0;
}

static void tcp_task(uint32_t index)
{
	struct ruleread_tcp *t = &child.s->tcp[index];
	pid_t pid = child.g->want->ranks[index].pid;
	if (index == 0)
		child.s->snmp_done = tcpwait_snmp_read(child.g->w, pid, &child.s->snmp) == 0;
	t->done = tcpwait_read(child.g->w, pid, t->wait, RULEREAD_WAITS, &t->n) == 0;
}

static void error_task(uint32_t index)
{
	const struct rulegather_rank *r = &child.g->want->ranks[index];
	child.s->has_error[index] = errorfile_read(r->error_file, r->rank, &child.s->error[index]) == 0;
}

static void task_run(const struct ruleread_task *t)
{
	switch (t->kind) {
	case RULEREAD_ENVIRONS:
		environ_task(t->index);
		break;
	case RULEREAD_PORTS:
		if (ibports_read(child.g->w, child.g->ib_exclude, child.s->port, IBPORT_MAX, &child.s->n_ports) != 0)
			child.s->n_ports = 0;
		break;
	case RULEREAD_TCP:
		tcp_task(t->index);
		break;
	case RULEREAD_LOG:
		log_task(t->index);
		break;
	case RULEREAD_ERROR:
		error_task(t->index);
		break;
	}
}

static void reader_run(struct rulegather *g)
{
	struct ruleread_shared *s = g->shared;
	const struct ruleread_run *run = &g->run;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	child = (struct reader){.g = g, .s = s, .deadline_ns = run->deadline_ns, .n_matches = s->n_done_matches};
	g->side = RULEGATHER_IN_CHILD;
	for (uint32_t i = run->first; i < run->end && !s->over; i++) {
		__atomic_store_n(&s->at, i, __ATOMIC_RELEASE);
		beat();
		task_run(&run->task[i]);
		s->n_done_matches = child.n_matches;
		__atomic_store_n(&s->done[i], true, __ATOMIC_RELEASE);
		s->over |= i + 1 < run->end && g->w->mono_ns() >= run->deadline_ns;
	}
	_exit(0);
}

/* ---- in the parent ---- */

/* True if the reader runs or waits for a processor: then it is slow, and its source is not blocked. */
static bool runs(const struct rulegather *g, pid_t pid)
{
	struct proc_stat st;
	return proc_stat_read(g->w, pid, &st) == 0 && st.state == 'R';
}

enum child_is { CHILD_WORKS, CHILD_ENDED, CHILD_HANGS };

static enum child_is child_poll(struct rulegather *g)
{
	struct ruleread_run *run = &g->run;
	if (waitpid(run->pid, NULL, WNOHANG) != 0)
		return CHILD_ENDED; /* also where another part of the program has reaped it */
	uint64_t now = g->w->mono_ns(), is = __atomic_load_n(&g->shared->beat, __ATOMIC_ACQUIRE);
	if (is != run->beat) {
		run->beat = is;
		run->beat_ns = now;
	}
	bool stalls = now - run->beat_ns >= RULEREAD_STALL_NS && !runs(g, run->pid);
	if (now < run->deadline_ns + GRACE_NS && !stalls)
		return CHILD_WORKS;
	(void)kill(run->pid, SIGKILL);
	return CHILD_HANGS;
}

static void task_name(const struct rulegather *g, const struct ruleread_task *t, char *dst, size_t cap)
{
	switch (t->kind) {
	case RULEREAD_ENVIRONS:
		(void)text_format(dst, cap, "the environment of pid %d", (int)g->want->ranks[t->index].pid);
		break;
	case RULEREAD_PORTS:
		(void)text_format(dst, cap, "the counters of the InfiniBand adapters");
		break;
	case RULEREAD_TCP:
		(void)text_format(dst, cap, "the sockets of pid %d", (int)g->want->ranks[t->index].pid);
		break;
	case RULEREAD_LOG:
		(void)text_format(dst, cap, "the log %s", g->log[t->index].path);
		break;
	case RULEREAD_ERROR:
		(void)text_format(dst, cap, "the error file %s", g->want->ranks[t->index].error_file);
		break;
	}
}

static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

/* The reader that still hangs in this task or, if folder is set, in a log of the same folder. */
static struct ruleread_stuck *stuck_in(struct rulegather *g, const struct ruleread_task *t, bool folder)
{
	for (size_t i = 0; i < RULEREAD_STUCK; i++) {
		struct ruleread_stuck *k = &g->stuck[i];
		if (k->pid == 0 || k->task.kind != t->kind)
			continue;
		if (t->kind == RULEREAD_LOG && folder) {
			const char *a = g->log[t->index].path, *b = g->log[k->task.index].path;
			size_t n = folder_bytes(a);
			if (n > 0 && n == folder_bytes(b) && memcmp(a, b, n) == 0)
				return k;
		} else if (k->task.index == t->index) {
			return k;
		}
	}
	return NULL;
}

/* Frees the places of hanging readers that have ended. */
static void stuck_reap(struct rulegather *g)
{
	for (size_t i = 0; i < RULEREAD_STUCK; i++)
		if (g->stuck[i].pid && waitpid(g->stuck[i].pid, NULL, WNOHANG) != 0)
			g->stuck[i].pid = 0;
}

static void stuck_add(struct rulegather *g, pid_t pid, const struct ruleread_task *t)
{
	for (size_t i = 0; i < RULEREAD_STUCK; i++)
		if (g->stuck[i].pid == 0) {
			g->stuck[i] = (struct ruleread_stuck){.pid = pid, .task = *t};
			task_name(g, t, g->stuck[i].what, sizeof(g->stuck[i].what));
			return;
		}
}

static int shared_make(struct rulegather *g)
{
	void *p = mmap(NULL, sizeof(*g->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	g->shared = p;
	memcpy(g->shared->log, g->log, g->n_logs * sizeof(g->log[0]));
	g->shared->pace[0] = g->pace;
	TEXT_COPY(g->shared->nccl_version, g->nccl_version);
	return 0;
}

static void environ_keep(struct rulegather *g, uint32_t index)
{
	struct ruleread_environ *e = &g->environ[index];
	e->tried = true;
	if (!g->shared->environ_read[index])
		return;
	e->len = MIN(g->shared->environ_len[index], (size_t)RULEREAD_ENVIRON);
	e->text = malloc(e->len + 1);
	if (e->text)
		memcpy(e->text, g->shared->environ[index], e->len);
	e->len = e->text ? e->len : 0;
}

static void task_keep(struct rulegather *g, const struct ruleread_task *t)
{
	const struct ruleread_shared *s = g->shared;
	switch (t->kind) {
	case RULEREAD_ENVIRONS:
		environ_keep(g, t->index);
		break;
	case RULEREAD_PORTS:
		g->has_ports = s->n_ports > 0;
		g->n_ports = MIN(s->n_ports, (size_t)IBPORT_MAX);
		memcpy(g->ports, s->port, g->n_ports * sizeof(g->ports[0]));
		break;
	case RULEREAD_TCP:
		if (t->index < g->n_tcp)
			g->tcp[t->index] = s->tcp[t->index];
		if (t->index == 0) {
			g->has_snmp = s->snmp_done;
			g->snmp = s->snmp;
		}
		break;
	case RULEREAD_LOG:
		g->log[t->index] = s->log[t->index];
		if (g->log[t->index].error != 0)
			rulegather_unavailable(g->ret, "the log %s: %s", g->log[t->index].path,
					       g->log[t->index].error == -EINVAL ? "it is no ordinary file"
										 : strerror(-g->log[t->index].error));
		break;
	case RULEREAD_ERROR:
		if (s->has_error[t->index])
			g->ret->errors[g->ret->n_errors++] = s->error[t->index];
		break;
	}
}

/* Keeps the child's results and unmaps the shared memory. */
static void shared_take(struct rulegather *g)
{
	struct ruleread_shared *s = g->shared;
	const struct ruleread_run *run = &g->run;
	for (uint32_t i = run->first; i < run->end; i++)
		if (__atomic_load_n(&s->done[i], __ATOMIC_ACQUIRE))
			task_keep(g, &run->task[i]);
	g->pace = s->pace[s->pace_now & 1];
	TEXT_COPY(g->nccl_version, s->nccl_version);
	if (g->ret)
		g->ret->log_bytes += s->log_bytes;
	for (uint32_t i = 0; i < MIN(s->n_done_matches, (uint32_t)RULEREAD_MATCHES) && g->result == 0; i++) {
		const struct rule_match *m = &s->match[i];
		if (m->event == RULE_MATCH)
			rulescan_remember(g->scan, m->rule);
		g->result = cause_set_add(&g->kept, m);
	}
	(void)munmap(s, sizeof(*s));
	g->shared = NULL;
}

/* Ends the run. why: tasks are left that could not be read; NULL: none are. */
static void run_over(struct rulegather *g, const char *why)
{
	char what[600];
	if (why) {
		task_name(g, &g->run.task[g->run.first], what, sizeof(what));
		rulegather_unavailable(g->ret, "%.120s and what comes behind: %s", what, why);
	}
	g->run.busy = false;
}

/* Starts a child for the tasks up to the next one that must not be tried. False: no task is left. */
static bool part_begin(struct rulegather *g)
{
	struct ruleread_run *run = &g->run;
	char what[600];
	/* logs of a folder in which a reader hangs are reported, not tried */
	for (; run->first < run->n && stuck_in(g, &run->task[run->first], true); run->first++) {
		task_name(g, &run->task[run->first], what, sizeof(what));
		rulegather_unavailable(g->ret, "%.150s: not read, its reader hangs", what);
	}
	for (run->end = run->first; run->end < run->n && !stuck_in(g, &run->task[run->end], true);)
		run->end++;
	if (run->first == run->n || g->result != 0) {
		run_over(g, NULL);
		return false;
	}
	if (g->w->mono_ns() >= run->deadline_ns || shared_make(g) < 0) {
		run_over(g, "no time was left");
		return false;
	}
	run->beat = 0;
	run->beat_ns = g->w->mono_ns();
	pid_t pid = fork();
	if (pid == 0)
		reader_run(g);
	if (pid < 0) {
		shared_take(g);
		run_over(g, "no process could be started to read it");
		return false;
	}
	run->pid = pid;
	return true;
}

static void part_end(struct rulegather *g, bool hangs)
{
	struct ruleread_run *run = &g->run;
	const struct ruleread_shared *s = g->shared;
	char what[600];
	uint32_t stood = MIN(__atomic_load_n(&s->at, __ATOMIC_ACQUIRE), run->end - 1);
	bool over = s->over;
	pid_t pid = run->pid;
	run->pid = 0;
	shared_take(g);
	if (hangs) {
		task_name(g, &run->task[stood], what, sizeof(what));
		rulegather_unavailable(g->ret, "%.150s: it does not answer", what);
		stuck_add(g, pid, &run->task[stood]);
		run->first = stood + 1;
	} else if (over) {
		run->first = stood;
		run_over(g, "no time was left");
	} else {
		run->first = run->end;
	}
}

bool ruleread_step(struct rulegather *g)
{
	struct ruleread_run *run = &g->run;
	while (run->busy) {
		if (run->pid == 0 && !part_begin(g))
			break;
		enum child_is is = child_poll(g);
		if (is == CHILD_WORKS)
			return false;
		part_end(g, is == CHILD_HANGS);
	}
	return true;
}

void ruleread_stop(struct rulegather *g)
{
	struct ruleread_run *run = &g->run;
	if (run->pid) {
		cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
		(void)kill(run->pid, SIGKILL);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		(void)poll(&p, fd >= 0 ? 1 : 0, STOP_MS);
		stuck_add(g, run->pid, &run->task[run->first]);
		run->pid = 0;
	}
	if (g->shared)
		(void)munmap(g->shared, sizeof(*g->shared));
	g->shared = NULL;
	run->busy = false;
	stuck_reap(g);
}

static void run_begin(struct rulegather *g, uint64_t deadline_ns)
{
	stuck_reap(g);
	g->run.n = g->run.first = 0;
	g->run.deadline_ns = deadline_ns;
	g->run.busy = true;
}

static void task_add(struct rulegather *g, enum ruleread_kind kind, uint32_t index)
{
	g->run.task[g->run.n++] = (struct ruleread_task){kind, index};
}

void ruleread_begin(struct rulegather *g, uint64_t deadline_ns)
{
	run_begin(g, deadline_ns);
	for (uint32_t i = 0; i < g->n_environs; i++)
		if (g->environ[i].pid && !g->environ[i].tried)
			task_add(g, RULEREAD_ENVIRONS, i);
	/* logs first: they say most */
	for (uint32_t i = 0; i < g->n_logs; i++)
		if (g->log[i].wanted)
			task_add(g, RULEREAD_LOG, i);
	task_add(g, RULEREAD_PORTS, 0);
	for (uint32_t i = 0; i < MIN(g->want->n_ranks, (size_t)RULEGATHER_RANKS); i++) {
		if (g->want->ranks[i].error_file)
			task_add(g, RULEREAD_ERROR, i);
		if (g->want->ranks[i].pid)
			task_add(g, RULEREAD_TCP, i);
	}
}

void ruleread_baseline(struct rulegather *g, uint64_t deadline_ns)
{
	run_begin(g, deadline_ns);
	task_add(g, RULEREAD_PORTS, 0);
	if (g->want->ranks[0].pid > 0)
		task_add(g, RULEREAD_TCP, 0);
}
