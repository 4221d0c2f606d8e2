#include "agent/memory/namereader.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

static const uint64_t late_ns = 100 * NS_PER_MS;
#define ABANDONED_MAX 16

/* One thread's work. Each is freed by its thread if it was left behind, else by the next refresh. */
struct name_round {
	struct namereader *of;
	struct guard_wanted want[GUARD_ASKED];
	size_t n, at; /* at: which is being read */
	uint64_t at_ns; /* since when */
	bool over, abandoned;
};

struct namereader {
	const struct world *w;
	struct guard_names *names;
	pthread_mutex_t lock; /* of all that follows, and of writing to names */
	struct name_round *now; /* NULL: no thread runs but those left behind */
	uint32_t answered_seq; /* of the requests that were last taken */
	size_t n_abandoned;
	bool closed;
};

struct namereader *namereader_new(const struct world *w, struct guard_names *names)
{
	struct namereader *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->w = w;
	r->names = names;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

static void namereader_destroy(struct namereader *r)
{
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/*
 * Which file it runs, and whose that is. Only what the kernel knows already (AT_STATX_DONT_SYNC): a user's file may lie
 * in a file system that never answers, and whoever asked that could not even be killed.
 */
static enum role_proof namereader_proof(const struct world *w, const struct guard_wanted *want, const char *command)
{
	char link[32], path[512];
	struct statx st;
	struct proc_status who;
	TEXT_FORMAT(link, "%d/exe", (int)want->id.pid);
	ssize_t n = readlinkat(w->proc_fd, link, path, sizeof(path));
	if (n <= 0 || statx(w->proc_fd, link, AT_STATX_DONT_SYNC, STATX_UID, &st) < 0 ||
	    proc_status_read(w, want->id.pid, &who) != 0)
		return ROLE_UNPROVEN;
	const struct role_program program = {.path = {path, (size_t)n},
					     .of_root = st.stx_uid == 0,
					     .of_user = st.stx_uid == who.uid,
					     .of_ours = st.stx_uid == geteuid()};
	return role_proof_of(span_of(want->comm), span_of(command), &program);
}

static void namereader_read(const struct world *w, const struct guard_wanted *want, struct guard_named *ret)
{
	static const size_t cap = 4096;
	cleanup(freep) char *block = malloc(cap);
	struct proc_stat st;
	size_t len = 0;
	*ret = (struct guard_named){.id = want->id};
	TEXT_COPY(ret->comm, want->comm);
	if (proc_command_read(w, want->id.pid, ret->command, sizeof(ret->command)) != 0)
		ret->command[0] = '\0';
	if (block && proc_environ_read(w, want->id.pid, block, cap, &len) != 0)
		len = 0;
	ret->numbers = role_numbers_of((struct span){block ? block : "", len});
	ret->proof = namereader_proof(w, want, ret->command);
	/* another process by now: what was read is not this one's */
	if (!proc_is_same(w, want->id, &st))
		ret->command[0] = '\0';
}

/* The next one to read; false: there is none, or somebody else reads the rest. */
static bool namereader_next(struct name_round *k, struct guard_wanted *ret)
{
	pthread_mutex_lock(&k->of->lock);
	bool more = !k->abandoned && k->at < k->n;
	if (more) {
		*ret = k->want[k->at];
		k->at_ns = k->of->w->mono_ns();
	}
	pthread_mutex_unlock(&k->of->lock);
	return more;
}

static void namereader_done(struct name_round *k, const struct guard_named *named)
{
	pthread_mutex_lock(&k->of->lock);
	if (!k->abandoned) {
		guardnames_answer(k->of->names, named);
		k->at++;
	}
	pthread_mutex_unlock(&k->of->lock);
}

static void *names_run(void *arg)
{
	struct name_round *k = arg;
	struct namereader *r = k->of;
	struct guard_wanted want;
	struct guard_named named;
	while (namereader_next(k, &want)) {
		namereader_read(r->w, &want, &named);
		namereader_done(k, &named);
	}
	pthread_mutex_lock(&r->lock);
	k->over = true;
	bool mine = k->abandoned;
	r->n_abandoned -= mine ? 1 : 0;
	bool last = r->closed && r->n_abandoned == 0 && mine;
	pthread_mutex_unlock(&r->lock);
	if (mine)
		free(k);
	if (last)
		namereader_destroy(r);
	return NULL;
}

/* The lock is held. */
static void round_begin(struct namereader *r, const struct guard_wanted *want, size_t n)
{
	pthread_t thread;
	struct name_round *k = n > 0 ? calloc(1, sizeof(*k)) : NULL;
	if (!k)
		return;
	k->of = r;
	k->n = n;
	k->at_ns = r->w->mono_ns();
	memcpy(k->want, want, n * sizeof(want[0]));
	if (pthread_create(&thread, NULL, names_run, k) != 0) {
		free(k);
		return;
	}
	pthread_detach(thread);
	r->now = k;
}

/* The lock is held: the running thread waits for a process, and is left behind. */
static void round_abandon(struct namereader *r)
{
	struct name_round *k = r->now;
	struct guard_named nameless = {.id = k->want[k->at].id};
	TEXT_COPY(nameless.comm, k->want[k->at].comm);
	guardnames_answer(r->names, &nameless);
	k->abandoned = true;
	r->n_abandoned++;
	r->now = NULL;
	if (r->n_abandoned < ABANDONED_MAX)
		round_begin(r, k->want + k->at + 1, k->n - k->at - 1);
}

void namereader_refresh(struct namereader *r)
{
	struct guard_wanted want[GUARD_ASKED];
	size_t n = 0;
	uint32_t seq = 0;
	pthread_mutex_lock(&r->lock);
	if (r->now && r->now->over) {
		free(r->now);
		r->now = NULL;
	}
	if (r->now && r->now->at < r->now->n && r->w->mono_ns() - r->now->at_ns > late_ns)
		round_abandon(r);
	bool asked = guardnames_wanted(r->names, want, &n, &seq) && seq != r->answered_seq;
	if (!r->now && asked && r->n_abandoned < ABANDONED_MAX) {
		r->answered_seq = seq;
		round_begin(r, want, n);
	}
	pthread_mutex_unlock(&r->lock);
}

struct namereader *namereader_free(struct namereader *r)
{
	if (!r)
		return NULL;
	pthread_mutex_lock(&r->lock);
	if (r->now && r->now->over) {
		free(r->now);
	} else if (r->now) {
		r->now->abandoned = true;
		r->n_abandoned++;
	}
	r->now = NULL;
	r->closed = true;
	bool idle = r->n_abandoned == 0;
	pthread_mutex_unlock(&r->lock);
	if (idle)
		namereader_destroy(r);
	return NULL;
}
