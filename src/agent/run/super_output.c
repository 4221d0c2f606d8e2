#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "agent/run/super.h"
#include "base/log.h"
#include "base/units.h"

/* Time for a stuck reader to take the last output after the user asked to end. */
static const int end_wait_ms = 500;

/* Log sink: vigil's messages go through the job's output buffer, so that they keep their place. */
static void log_to_outbuf(void *ctx, const char *text, size_t len)
{
	ignore(outbuf_put(ctx, text, len), "there is nowhere left to complain");
}

void super_output_open(struct super *s)
{
	struct stat out, err;
	outbuf_open(&s->output.out, s->w->proc_fd, STDOUT_FILENO);
	bool one = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
		   out.st_ino == err.st_ino && s->output.out.kind != OUTBUF_PATIENT;
	s->output.err = (struct outbuf){.fd = -1};
	s->output.err_to =
		one ? &s->output.out : &s->output.err; /* one reader gets both in the order they were written */
	if (!one)
		outbuf_open(&s->output.err, s->w->proc_fd, STDERR_FILENO);
	log_set_sink(log_to_outbuf, s->output.err_to);
}

static void poll_outlet(struct super *s, struct outbuf *o, uint64_t key, bool *polled)
{
	bool want = o->len > 0;
	struct epoll_event ev = {.events = EPOLLOUT, .data.u64 = key};
	if (want == *polled)
		return;
	if (epoll_ctl(s->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, o->fd, &ev) < 0)
		log_debug("epoll: %s", strerror(errno));
	*polled = want;
}

/* Remove it from epoll instead of masking it: the end of the job's output would wake us again and again. */
static void poll_tee(struct super *s, struct tee *t, uint64_t key)
{
	bool want = t->from_fd >= 0 && !outbuf_is_full(t->to);
	if (want == t->polled)
		return;
	if (want)
		super_poll_add(s, t->from_fd, key);
	else if (t->from_fd >= 0)
		(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, t->from_fd, NULL);
	t->polled = want;
}

void super_output_poll(struct super *s)
{
	poll_outlet(s, &s->output.out, SUPER_KEY_OUT, &s->output.out_polled);
	poll_outlet(s, &s->output.err, SUPER_KEY_ERR, &s->output.err_polled);
	for (uint32_t i = 0; i < s->nproc; i++) {
		if (!s->rank[i].out.to)
			continue; /* not started yet */
		poll_tee(s, &s->rank[i].out, SUPER_KEY_RANKS + i * 2);
		poll_tee(s, &s->rank[i].err, SUPER_KEY_RANKS + i * 2 + 1);
	}
}

/* Our reader has gone: close the job's end too, so that the job sees what it would have seen without vigil. */
static void reader_gone(struct super *s, const struct outbuf *o)
{
	for (uint32_t i = 0; i < s->nproc; i++) {
		if (s->rank[i].out.to == o)
			tee_close(&s->rank[i].out);
		if (s->rank[i].err.to == o)
			tee_close(&s->rank[i].err);
	}
}

void super_output_push(struct super *s, struct outbuf *o)
{
	if (outbuf_push(o) != 0)
		reader_gone(s, o);
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

struct fullest {
	struct tee *tee; /* NULL: none */
	const struct rank *rank;
	bool err;
};

static struct fullest fullest_find(struct super *s, bool closed_too)
{
	struct fullest f = {.tee = NULL};
	for (uint32_t i = 0; i < s->nproc; i++) {
		struct tee *both[] = {&s->rank[i].out, &s->rank[i].err};
		for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
			if (!both[k]->to || (both[k]->log_fd < 0 && !closed_too))
				continue;
			if (!f.tee || keptlog_bytes(&both[k]->kept) > keptlog_bytes(&f.tee->kept))
				f = (struct fullest){.tee = both[k], .rank = &s->rank[i], .err = k == 1};
		}
	}
	return f;
}

void super_output_trim(struct super *s)
{
	struct fullest f = fullest_find(s, false);
	if (f.tee && keptlog_trim(&f.tee->kept, f.tee->log_fd))
		trimmed_say(s);
}

/* The job has closed its output, so the files are opened once more. */
void super_output_make_room(struct super *s)
{
	const struct keptlogs *kept = &s->output.kept;
	while (kept->most_bytes > 0 && kept->kept_bytes - kept->former_bytes > kept->most_bytes / 2) {
		struct fullest f = fullest_find(s, true);
		int fd = f.tee ? recorder_log_again(&s->recorder, s->job.attempt, f.rank->rank, f.err ? "err" : "out")
			       : -1;
		bool trimmed = fd >= 0 && keptlog_trim(&f.tee->kept, fd);
		closep(&fd);
		if (!trimmed)
			break;
		trimmed_say(s);
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
	bool err = r->err.last_len + r->err.line_len > 0;
	const struct tee *t = err ? &r->err : &r->out;
	const struct span line =
		t->line_len ? (struct span){t->line, t->line_len} : (struct span){t->last, t->last_len};
	span_copy(line, dst, TEE_LAST_LINE);
	return err;
}

void super_output_end(struct super *s)
{
	outbuf_drain(s, &s->output.out);
	outbuf_drain(s, &s->output.err);
	log_set_sink(NULL, NULL);
	outbuf_close(&s->output.out);
	outbuf_close(&s->output.err);
}
