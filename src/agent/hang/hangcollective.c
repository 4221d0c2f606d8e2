#include "agent/hang/hangcollective.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/collective/collectives.h"
#include "base/buf.h"
#include "base/heap.h"
#include "judge/collective/collective.h"

/* Ranks answer a pipe within one second or not at all; RAS needs two samples, three seconds apart. */
static const uint64_t dumps_limit_ns = 3 * NS_PER_S;
static const uint64_t grace_ns = NS_PER_S;
/* For dumps and rings, which a user may make as large as a file can be; the service has 256 MiB for all. */
#define MEMORY_MOST (96 * MIB)
/* A file system's clock may be this much behind ours. */
static const int64_t clock_slack_ms = 1000;

struct hangcollective_answer {
	_Atomic bool done;
	struct collective_verdict verdict;
	char note[HANGCOLLECTIVE_NOTES][HANGCOLLECTIVE_NOTE];
	size_t n_notes;
	size_t n_arrows;
	struct collective_arrow arrow[COLLECTIVE_ARROWS];
};

static const enum hang_collective_kind kinds[COLLECTIVE_KINDS] = {
	[COLLECTIVE_NONE] = HANG_COLLECTIVE_NONE,	  [COLLECTIVE_MISSING] = HANG_COLLECTIVE_MISSING,
	[COLLECTIVE_MISMATCH] = HANG_COLLECTIVE_MISMATCH, [COLLECTIVE_EQUAL] = HANG_COLLECTIVE_EQUAL,
	[COLLECTIVE_P2P] = HANG_COLLECTIVE_P2P,		  [COLLECTIVE_CYCLE] = HANG_COLLECTIVE_CYCLE,
	[COLLECTIVE_DEAD] = HANG_COLLECTIVE_DEAD,	  [COLLECTIVE_INIT] = HANG_COLLECTIVE_INIT,
	[COLLECTIVE_UNEVEN] = HANG_COLLECTIVE_UNEVEN,	  [COLLECTIVE_DEVICE] = HANG_COLLECTIVE_DEVICE,
};

/* Copies a sentence without its full stop: it becomes a part of another one. */
static void sentence(const char *text, char *dst, size_t cap)
{
	struct span s = span_trim(span_of(text));
	if (s.len && s.p[s.len - 1] == '.')
		s.len--;
	span_copy(s, dst, cap);
}

void hangcollective_map(const struct collective_verdict *v, struct hang_collective *ret)
{
	*ret = (struct hang_collective){.valid = v->valid && v->kind < COLLECTIVE_KINDS};
	if (!ret->valid)
		return;
	ret->kind = kinds[v->kind];
	ret->confidence = v->confidence;
	ret->n_culprits = MIN(v->n_culprits, (size_t)HANG_CULPRITS);
	memcpy(ret->culprits, v->culprits, ret->n_culprits * sizeof(ret->culprits[0]));
	sentence(v->text, ret->text, sizeof(ret->text));
	if (v->n_evidence)
		TEXT_COPY(ret->source, v->evidence[0].source);
}

/* ---- in the child ---- */

static void hangcollective_ask(const struct world *w, const struct collectives_want *want,
			       struct hangcollective_answer *a)
{
	struct collectives c = {.set = NULL};
	const int r = w->recorded || heap_limit(w->proc_fd, MEMORY_MOST) ? collectives_of_job(w, want, &c) : -EPERM;
	if (r == -ENOMEM) {
		TEXT_COPY(a->note[0], "collective: what its ranks wrote takes more memory than there is for it here; "
				      "'vigil collectives' reads it");
		a->n_notes = 1;
		atomic_store(&a->done, true);
	}
	if (r != 0)
		return;
	if (c.n_read) {
		ignore(collective_judge(c.set, &a->verdict), "invalid then");
		a->n_arrows = collective_arrows(c.set, a->arrow, ARRAY_SIZE(a->arrow));
	}
	/* many ranks may have the same note; `vigil collectives` shows all */
	a->n_notes = MIN(c.n_notes, (size_t)HANGCOLLECTIVE_NOTES);
	for (size_t i = 0; i < a->n_notes; i++)
		TEXT_FORMAT(a->note[i], "collective: %s", c.note[i]);
	atomic_store(&a->done, true);
	/* the process ends now and frees what was allocated */
}

static size_t ranks_of(const struct hangprocs *procs, struct collectives_rank *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < procs->n_now && n < cap; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->main && m->who.rank != NO_RANK && m->state != 'Z')
			dst[n++] = (struct collectives_rank){.rank = m->who.rank, .pid = m->pid};
	}
	return n;
}

/* ---- in the parent ---- */

static bool reaped(struct hangcollective *h)
{
	if (h->pid && waitpid(h->pid, NULL, WNOHANG) != 0)
		h->pid = 0;
	return h->pid == 0;
}

static void unmap(struct hangcollective *h)
{
	if (h->answer)
		(void)munmap(h->answer, sizeof(*h->answer));
	h->answer = NULL;
}

void hangcollective_begin(struct hangcollective *h, const struct world *w, const struct hangprocs *procs,
			  int64_t since_unix_ms)
{
	static struct collectives_rank ranks[LIVENESS_RANKS];
	struct collectives_want want = {.ranks = ranks,
					.n_ranks = ranks_of(procs, ranks, ARRAY_SIZE(ranks)),
					.only_if_used = true,
					.dumps_since_unix_ms = since_unix_ms - clock_slack_ms,
					.ras_no_hint = true,
					.ask_dumps = true,
					.dumps_limit_ns = dumps_limit_ns,
					.limit_ns = HANGCOLLECTIVE_NS};
	unmap(h);
	if (!reaped(h) || want.n_ranks == 0)
		return;
	void *p = mmap(NULL, sizeof(*h->answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	h->answer = p;
	h->deadline_ns = w->mono_ns() + HANGCOLLECTIVE_NS + grace_ns;
	pid_t owner = getpid();
	h->pid = fork();
	if (h->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == owner) {
			/* a rank that closes its pipe must not end this process */
			(void)signal(SIGPIPE, SIG_IGN);
			hangcollective_ask(w, &want, h->answer);
		}
		_exit(0);
	}
	if (h->pid < 0) {
		h->pid = 0;
		unmap(h);
	}
}

bool hangcollective_done(struct hangcollective *h, const struct world *w)
{
	if (!h->answer || reaped(h))
		return true;
	if (w->mono_ns() < h->deadline_ns)
		return false;
	/* a child that is stuck in the kernel stays, and is reaped before the next one starts */
	(void)kill(h->pid, SIGKILL);
	return true;
}

static void arrows_take(const struct hangcollective_answer *a, struct hangcollective_said *ret)
{
	const size_t n = MIN(a->n_arrows, (size_t)COLLECTIVE_ARROWS);
	ret->arrow = n ? malloc(n * sizeof(*ret->arrow)) : NULL;
	if (!ret->arrow)
		return; /* without memory nothing is known */
	memcpy(ret->arrow, a->arrow, n * sizeof(*ret->arrow));
	ret->n_arrows = n;
}

void hangcollective_take(struct hangcollective *h, struct hangcollective_said *ret)
{
	*ret = (struct hangcollective_said){.n_notes = 0};
	if (h->answer && atomic_load(&h->answer->done)) {
		hangcollective_map(&h->answer->verdict, &ret->verdict);
		arrows_take(h->answer, ret);
		ret->n_notes = MIN(h->answer->n_notes, (size_t)HANGCOLLECTIVE_NOTES);
		memcpy(ret->note, h->answer->note, sizeof(h->answer->note));
	} else if (h->answer) {
		TEXT_FORMAT(ret->note[ret->n_notes++], "collective: its library did not answer in time");
	}
	unmap(h);
}

void hangcollective_said_done(struct hangcollective_said *s)
{
	free(s->arrow);
	*s = (struct hangcollective_said){.n_notes = 0};
}

void hangcollective_end(struct hangcollective *h)
{
	if (h->pid && !reaped(h))
		(void)kill(h->pid, SIGKILL);
	unmap(h);
}
