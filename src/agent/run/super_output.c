#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "agent/run/super.h"
#include "base/file.h"
#include "base/log.h"
#include "base/units.h"

/* Time for a stuck reader to take the last output after the user asked to end. */
static const int end_wait_ms = 500;

/* A process outside the job may hold its output open: wait for the end of output no longer than this. */
static const uint64_t output_wait_ns = 500 * NS_PER_MS;
/* The disk is waited for while it takes something; a rank's failure is looked into sooner. */
static const uint64_t keep_wait_ns = 20 * NS_PER_S, keep_quiet_ns = 2 * NS_PER_S;
static const uint64_t failed_wait_ns = 200 * NS_PER_MS;

/* A child has neither the thread nor the buffer's reader, and writes itself. */
static void log_of_child(const struct pump *p, const char *text, size_t len)
{
	bool *mid_line = p->err_to->line;
	struct iovec part[2] = {{.iov_base = (char[]){'\n'}, .iov_len = *mid_line},
				{.iov_base = (char *)text, .iov_len = len}};
	*mid_line = false;
	ssize_t n = writev(STDERR_FILENO, part, 2);
	size_t written = n > 0 ? (size_t)n - part[0].iov_len : 0;
	if (written < len)
		ignore(file_write_all(STDERR_FILENO, text + written, len - written),
		       "there is nowhere left to complain");
}

/* Log sink: vigil's messages go through the job's output buffer, so that they keep their place. */
static void log_to_outbuf(void *ctx, const char *text, size_t len)
{
	struct pump *p = ctx;
	if (getpid() != p->pid) {
		log_of_child(p, text, len);
		return;
	}
	pump_lock(p);
	ignore(outbuf_put_lines(p->err_to, text, len), "there is nowhere left to complain");
	pump_unlock(p);
}

/* Whether the outputs stand in the middle of a line, where children see it. */
static void lines_share(struct pump *p)
{
	void *at = mmap(NULL, 2 * sizeof(*p->mid_line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	const bool same = p->err.line == p->out.line;
	p->mid_line = at;
	p->out.line = &p->mid_line[0];
	p->err.line = &p->mid_line[same ? 0 : 1];
}

int super_output_open(struct super *s)
{
	struct stat out, err;
	struct pump *p = &s->output.pump;
	outbuf_open(&p->out, s->w->proc_fd, STDOUT_FILENO);
	bool same = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
		    out.st_ino == err.st_ino;
	bool one = same && p->out.kind != OUTBUF_PATIENT;
	p->err = (struct outbuf){.fd = -1, .line = &p->err.mid_line};
	p->err_to = one ? &p->out : &p->err; /* one reader gets both in the order they were written */
	if (!one)
		outbuf_open(&p->err, s->w->proc_fd, STDERR_FILENO);
	if (same && !one)
		outbuf_same_target(&p->err, &p->out);
	lines_share(p);
	s->output.news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->output.news_fd < 0)
		return -errno;
	keeper_init(&s->output.keeper, &s->output.kept, s->output.news_fd);
	super_poll_add(s, s->output.news_fd, SUPER_KEY_OUTPUT);
	int r = pump_start(p, s->output.news_fd);
	if (r == 0)
		log_set_sink(log_to_outbuf, p);
	return r;
}

void super_output_forget(struct super *s)
{
	pump_lock(&s->output.pump);
	pump_forget(&s->output.pump);
	pump_unlock(&s->output.pump);
	keeper_files_forget(&s->output.keeper);
}

void super_output_begin(struct super *s, struct rank *r)
{
	struct pump *p = &s->output.pump;
	struct keeper *k = &s->output.keeper;
	const uint32_t attempt = s->job.attempt;
	struct keeper_file *out =
		keeper_file_open(k, recorder_log_open(&s->recorder, attempt, r->rank, "out"), r->rank, false);
	struct keeper_file *err =
		keeper_file_open(k, recorder_log_open(&s->recorder, attempt, r->rank, "err"), r->rank, true);
	pump_lock(p);
	tee_open(&r->out, r->proc.out_fd, &p->out, k, out);
	tee_open(&r->err, r->proc.err_fd, p->err_to, k, err);
	r->order = (struct streamorder){.n = 0};
	r->out.order = r->err.order = &r->order;
	r->err.order_err = true;
	pump_add(p, &r->out);
	pump_add(p, &r->err);
	pump_unlock(p);
}

static void drain(struct tee *t)
{
	for (int i = 0; i < 1024 && t->from_fd >= 0; i++) {
		uint64_t before = t->bytes;
		if (!tee_pump(t) || t->bytes == before)
			break;
	}
	if (tee_is_rushing(t))
		tee_settle(t);
}

void super_output_drain(struct super *s, struct rank *r, bool failed)
{
	pump_lock(&s->output.pump);
	drain(&r->out);
	drain(&r->err);
	pump_unlock(&s->output.pump);
	if (failed)
		(void)keeper_flush(&s->output.keeper, s->w->mono_ns, s->w->mono_ns() + failed_wait_ns, failed_wait_ns);
}

static void trimmed_say(struct super *s)
{
	struct keptlogs *kept = &s->output.kept;
	char most[24];
	if (kept->said)
		return;
	kept->said = true;
	(void)size_format(kept->most_bytes, most);
	recorder_event(&s->recorder, &s->job, "output_cut", NULL,
		       "the kept output has reached %s: its beginning and its end are kept", most);
	if (!s->spec->watch.quiet)
		log_info("the kept output of the job has reached %s: from now on its beginning and its end are kept "
			 "(--keep-output); it is still shown as a whole",
			 most);
}

static struct keeper_file *fullest_find(struct keeper *k)
{
	struct keeper_file *fullest = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(k->file); i++) {
		struct keeper_file *f = &k->file[i];
		if (f->used && (!fullest || keptlog_bytes(&f->kept) > keptlog_bytes(&fullest->kept)))
			fullest = f;
	}
	return fullest;
}

/* Takes out what is above half of the limit. The keeper is idle and has closed the files: they are opened once more. */
static void output_make_room(struct super *s)
{
	const struct keptlogs *kept = &s->output.kept;
	while (kept->most_bytes > 0 && kept->kept_bytes - kept->former_bytes > kept->most_bytes / 2) {
		struct keeper_file *f = fullest_find(&s->output.keeper);
		int fd = f ? recorder_log_again(&s->recorder, s->job.attempt, f->rank, f->err ? "err" : "out") : -1;
		bool trimmed = fd >= 0 && keptlog_trim(&f->kept, fd);
		closep(&fd);
		if (!trimmed)
			break;
		trimmed_say(s);
	}
}

void super_output_finish(struct super *s, bool again)
{
	struct pump *p = &s->output.pump;
	const uint64_t now = s->w->mono_ns();
	pump_lock(p);
	for (uint32_t i = 0; i < s->nproc; i++) {
		tee_finish(&s->rank[i].out, s->w->mono_ns, now + output_wait_ns);
		tee_finish(&s->rank[i].err, s->w->mono_ns, now + output_wait_ns);
	}
	pump_unlock(p);
	const uint64_t most = s->ending.stopping ? keep_quiet_ns : keep_wait_ns;
	bool all = keeper_flush(&s->output.keeper, s->w->mono_ns, s->w->mono_ns() + most, keep_quiet_ns);
	super_output_news(s);
	if (!all)
		log_warning("the disk does not take the end of the job's output (%s): it was shown, and is not kept",
			    s->recorder.job_dir);
	else if (again)
		output_make_room(s);
}

static void failure_say(struct super *s, struct keeper_file *f)
{
	f->error_said = true;
	log_warning("cannot keep the output of rank %d (%s); it is still shown, but no longer logged", f->rank,
		    strerror(f->error));
	recorder_event(&s->recorder, &s->job, "log_failed", NULL, "rank %d: %s", f->rank, strerror(f->error));
}

static void gap_say(struct super *s, const struct keeper_file *f)
{
	s->output.gap_said = true;
	recorder_event(&s->recorder, &s->job, "output_gap", NULL,
		       "rank %d: output came faster than it can be kept; each gap is a line in the kept copy", f->rank);
	if (!s->spec->watch.quiet)
		log_info("the output of the job comes faster than it can be kept: it is shown as a whole; what is left "
			 "out of the kept copy is counted there");
}

void super_output_news(struct super *s)
{
	struct keeper *k = &s->output.keeper;
	if (k->trimmed)
		trimmed_say(s);
	for (size_t i = 0; i < ARRAY_SIZE(k->file); i++) {
		struct keeper_file *f = &k->file[i];
		if (f->used && f->error && !f->error_said)
			failure_say(s, f);
		if (f->used && f->gaps > 0 && !s->output.gap_said)
			gap_say(s, f);
	}
}

static bool asked_to_end(const struct super *s)
{
	struct signalfd_siginfo si;
	while (read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP ||
		    si.ssi_signo == SIGQUIT)
			return true;
	return false;
}

static void outbuf_drain(struct super *s, struct outbuf *o)
{
	bool hurry = s->ending.stopping;
	while (o->len > 0 && outbuf_push(o) == 0 && o->len > 0) {
		struct pollfd p[2] = {{.fd = o->fd, .events = POLLOUT}, {.fd = s->signal_fd, .events = POLLIN}};
		int n = poll(p, 2, hurry ? end_wait_ms : -1);
		if (n == 0 || (n > 0 && (p[1].revents & POLLIN) && asked_to_end(s)))
			break;
	}
}

bool super_last_line(const struct rank *r, char dst[static TEE_LAST_LINE])
{
	bool err = r->err.last.last_len + r->err.last.line_len > 0;
	const struct lastline *t = err ? &r->err.last : &r->out.last;
	const struct span line =
		t->line_len ? (struct span){t->line, t->line_len} : (struct span){t->last, t->last_len};
	span_copy(line, dst, TEE_LAST_LINE);
	return err;
}

void super_output_end(struct super *s)
{
	struct pump *p = &s->output.pump;
	pump_stop(p);
	log_set_sink(NULL, NULL);
	outbuf_drain(s, &p->out);
	outbuf_drain(s, &p->err);
	outbuf_close(&p->out);
	outbuf_close(&p->err);
	if (p->mid_line)
		(void)munmap(p->mid_line, 2 * sizeof(*p->mid_line));
	p->mid_line = NULL;
	keeper_stop(&s->output.keeper);
}
