#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "sense/format/jsonmend.h"
#include "sense/collective/ncclras.h"

#define COMMS_MAX 65536
#define RANKS_MAX 262144

/* Makes room for one more item in a list of n. The list doubles whenever n is a power of two. */
static bool ncclras_parse_room(struct arena *a, void **list, size_t n, size_t size)
{
	if (n && (n & (n - 1)))
		return true;
	void *grown = arena_grow(a, *list, n, n ? n * 2 : 1, size);
	if (grown)
		*list = grown;
	return grown;
}

static struct ncclras_comm *comm_new(struct ncclras_report *r)
{
	void *list = r->comms;
	if (r->n_comms == COMMS_MAX || !ncclras_parse_room(&r->arena, &list, r->n_comms, sizeof(*r->comms)))
		return NULL;
	r->comms = list;
	struct ncclras_comm *c = &r->comms[r->n_comms++];
	*c = (struct ncclras_comm){.size = 0};
	return c;
}

static struct ncclras_rank *rank_new(struct ncclras_report *r, struct ncclras_comm *c)
{
	void *list = c->ranks;
	if (c->n_ranks == RANKS_MAX || !ncclras_parse_room(&r->arena, &list, c->n_ranks, sizeof(*c->ranks)))
		return NULL;
	c->ranks = list;
	struct ncclras_rank *k = &c->ranks[c->n_ranks++];
	*k = (struct ncclras_rank){.rank = -1};
	return k;
}

static int32_t small(const struct js *j, const char *key)
{
	int64_t n = js_get_i64(j, key, -1);
	return n >= INT32_MIN && n <= INT32_MAX ? (int32_t)n : -1;
}

static int json_rank(struct ncclras_report *r, struct ncclras_comm *c, const struct js *j, bool is_missing)
{
	const struct js *status = js_get(j, "status"), *counts = js_get(j, "collective_counts");
	struct ncclras_rank *k = rank_new(r, c);
	if (!k)
		return -ENOMEM;
	k->rank = small(j, "rank");
	k->pid = js_get_i64(j, "pid", 0);
	k->is_missing = is_missing;
	TEXT_COPY(k->host, js_get_text(j, "host", ""));
	k->has_counts = counts != NULL;
	for (size_t i = 0; i < NCCLRAS_OPS; i++) {
		int64_t n = js_get_i64(counts, ncclras_op_name[i], 0);
		k->counts[i] = n > 0 ? (uint64_t)n : 0;
	}
	k->has_status = status && !is_missing;
	k->init_state = js_get(status, "init_state") ? small(status, "init_state") : 0;
	k->async_error = js_get(status, "async_error") ? small(status, "async_error") : 0;
	k->finalize = js_get_bool(status, "finalize_called", false);
	k->destroy = js_get_bool(status, "destroy_flag", false);
	k->abort = js_get_bool(status, "abort_flag", false);
	k->unresponsive = js_get_bool(status, "unresponsive", false);
	k->dead = js_get_bool(status, "considered_dead", false);
	return 0;
}

static int json_comm(struct ncclras_report *r, const struct js *j)
{
	struct ncclras_comm *c = comm_new(r);
	const struct js *ranks = js_get(j, "ranks"), *missing = js_get(j, "missing_ranks");
	if (!c)
		return -ENOMEM;
	/* Communicators can share a hash; the secondary hash tells them apart. */
	TEXT_FORMAT(c->hash, "%s/%s", js_get_text(j, "hash", ""), js_get_text(j, "secondary_hash", ""));
	c->size = small(j, "size");
	c->n_missing = MAX(small(j, "missing_ranks_count"), 0);
	int e = 0;
	for (size_t i = 0; i < js_len(ranks) && e == 0; i++)
		e = json_rank(r, c, js_at(ranks, i), false);
	for (size_t i = 0; i < js_len(missing) && e == 0; i++)
		e = json_rank(r, c, js_at(missing, i), true);
	return e;
}

static int parse_json(struct span text, struct ncclras_report *r, struct fault *f)
{
	cleanup(jsonmend_done) struct jsonmend m = {.text = NULL};
	cleanup(js_freep) struct js *j = NULL;
	struct fault why = {.text = "brackets that do not match"};
	int e = jsonmend_text(text, &m);
	if (e == 0)
		e = js_parse(m.text, m.len, &j, &why);
	if (e == -ENOMEM)
		return e;
	if (e || !js_get(j, "nccl_version"))
		return fault_set(f, NCCLRAS_FOREIGN, "what answered is not NCCL's RAS: %s",
				 e ? why.text : "its JSON has no nccl_version");
	const struct js *comms = js_get(j, "communicators");
	r->from_json = true;
	r->cut = m.cut;
	r->n_mended = m.n_commas;
	TEXT_COPY(r->version, js_get_text(j, "nccl_version", ""));
	r->n_timeouts = (uint32_t)MAX(small(js_get(j, "ras"), "timeouts_count"), 0);
	for (size_t i = 0; i < js_len(comms) && e == 0; i++)
		e = json_comm(r, js_at(comms, i));
	return e;
}

/* State of reading the text form line by line. */
struct lines {
	struct ncclras_report *r;
	enum { PART_HEAD, PART_DEAD, PART_INCOMPLETE, PART_COMM } part;
	struct ncclras_comm *comm;
	int op; /* index of the collective whose counts differ; -1: none */
	bool has_value;
	uint64_t value; /* operation count for the ranks listed after a line "N ranks have …" */
	char status[16]; /* status for the ranks listed after such a line */
	bool whole; /* the last part, "Warnings", was reached */
};

/* Parses "#0-1 (aa…) MISMATCH". */
static int comm_line(struct lines *l, struct span line)
{
	struct span hash = span_before(span_after(line, "("), ")"), what = span_trim(span_after(line, ")"));
	char text[40];
	span_copy(hash, text, sizeof(text));
	l->part = PART_COMM;
	l->op = -1;
	l->has_value = false;
	l->status[0] = '\0';
	l->comm = NULL;
	for (size_t i = 0; i < l->r->n_comms; i++)
		if (strcmp(l->r->comms[i].hash, text) == 0)
			l->comm = &l->r->comms[i];
	if (!l->comm)
		l->comm = comm_new(l->r);
	if (!l->comm)
		return -ENOMEM;
	TEXT_COPY(l->comm->hash, text);
	span_copy(what, l->comm->errors, sizeof(l->comm->errors));
	return 0;
}

/* Finds "process 1234 on node 10.0.0.1", also with a capital P. False without a host; the pid can be set then. */
static bool process_of(struct span line, int64_t *ret_pid, char *host, size_t cap)
{
	struct span s = span_after(line, "rocess "), word;
	uint64_t pid;
	if (!s.p || span_u64_prefix(s, &pid) != 0 || pid > INT64_MAX)
		return false;
	*ret_pid = (int64_t)pid;
	s = span_after(s, "on node ");
	if (!s.p || !span_word(&s, &word))
		return false;
	span_copy(word, host, cap);
	return true;
}

static struct ncclras_rank *comm_rank(struct lines *l, int32_t rank)
{
	for (size_t i = 0; i < l->comm->n_ranks; i++)
		if (l->comm->ranks[i].rank == rank)
			return &l->comm->ranks[i];
	struct ncclras_rank *k = rank_new(l->r, l->comm);
	if (k)
		k->rank = rank;
	return k;
}

static void set_status(struct ncclras_rank *k, const char *status)
{
	k->has_status = true;
	k->init_state = strcmp(status, "INIT") == 0 ? 7 : 0;
	k->finalize = strcmp(status, "FINALIZE") == 0;
	k->abort = strcmp(status, "ABORT") == 0;
	k->is_missing = strcmp(status, "NOCOMM") == 0 || strcmp(status, "UNKNOWN") == 0;
}

/* Parses "  Rank 3 -- GPU 3 managed by process 9 on node n" or "  Rank 3 has launched up to operation 4 -- …". */
static int rank_line(struct lines *l, struct span line)
{
	struct span s = span_after(line, "Rank "), status;
	uint64_t rank, n;
	if (!l->comm || span_u64_prefix(s, &rank) != 0 || rank > INT32_MAX)
		return 0;
	struct ncclras_rank *k = comm_rank(l, (int32_t)rank);
	if (!k)
		return -ENOMEM;
	ignore(process_of(line, &k->pid, k->host, sizeof(k->host)), "none then");
	struct span count = span_after(line, "up to operation "), has = span_after(line, "has status ");
	if (has.p && span_word(&has, &status)) {
		char text[16];
		span_copy(status, text, sizeof(text));
		set_status(k, text);
	} else if (count.p && span_u64_prefix(count, &n) == 0 && l->op >= 0) {
		k->has_counts = true;
		k->counts[l->op] = n;
	} else if (span_has(line, "not launched any") && l->op >= 0) {
		k->has_counts = true;
	} else if (l->status[0]) {
		set_status(k, l->status);
	} else if (l->has_value && l->op >= 0) {
		k->has_counts = true;
		k->counts[l->op] = l->value;
	} else if (strcmp(l->comm->errors, "INCOMPLETE") == 0) {
		k->is_missing = k->unresponsive = true;
	}
	return 0;
}

static int process_line(struct lines *l, struct span line)
{
	struct ncclras_process p = {.dead = l->part == PART_DEAD};
	void *list = l->r->processes;
	if (!process_of(line, &p.pid, p.host, sizeof(p.host)) || l->r->n_processes == RANKS_MAX)
		return 0;
	if (!ncclras_parse_room(&l->r->arena, &list, l->r->n_processes, sizeof(p)))
		return -ENOMEM;
	l->r->processes = list;
	l->r->processes[l->r->n_processes++] = p;
	l->r->has_dead |= p.dead;
	return 0;
}

/*
 * Parses "  3 ranks have launched up to operation 41", "… have not launched any operations", "… have status RUNNING".
 */
static void many_line(struct lines *l, struct span line)
{
	struct span count = span_after(line, "up to operation "), status = span_after(line, "have status "), word;
	l->has_value = false;
	l->status[0] = '\0';
	if (status.p && span_word(&status, &word)) {
		span_copy(word, l->status, sizeof(l->status));
		return;
	}
	l->value = 0;
	l->has_value = span_has(line, "not launched any") || (count.p && span_u64_prefix(count, &l->value) == 0);
}

static void counts_line(struct lines *l, struct span line)
{
	l->op = -1;
	l->has_value = false;
	l->status[0] = '\0';
	for (int i = 0; i < NCCLRAS_OPS; i++) {
		char key[64];
		TEXT_FORMAT(key, "different %s operation", ncclras_op_name[i]);
		if (span_has(line, key))
			l->op = i;
	}
}

static int any_line(struct lines *l, struct span line)
{
	struct span s = span_trim(line);
	if (span_starts(line, "NCCL version "))
		span_copy(span_trim(span_before(span_after(line, "NCCL version "), " compiled")), l->r->version,
			  sizeof(l->r->version));
	else if (span_starts(line, "#"))
		return comm_line(l, line);
	else if (span_eq(s, "DEAD") || span_eq(s, "INCOMPLETE"))
		l->part = span_eq(s, "DEAD") ? PART_DEAD : PART_INCOMPLETE;
	else if (span_eq(s, "Warnings"))
		l->whole = true;
	else if (span_has(line, "operation counts"))
		counts_line(l, line);
	else if (span_has(line, "ranks have "))
		many_line(l, line);
	else if (span_starts(s, "Rank "))
		return rank_line(l, line);
	else if (span_starts(s, "Process "))
		return process_line(l, line);
	return 0;
}

static int parse_text(struct span text, struct ncclras_report *r, struct fault *f)
{
	struct lines l = {.r = r, .op = -1};
	struct span line, rest = text;
	r->is_partial = true;
	while (span_line(&rest, &line)) {
		int e = any_line(&l, line);
		if (e)
			return e;
	}
	if (!r->version[0])
		return fault_set(f, NCCLRAS_FOREIGN,
				 "what answered is not NCCL's RAS: no line 'NCCL version …' in %zu bytes", text.len);
	r->cut = !l.whole;
	for (size_t i = 0; i < r->n_comms; i++)
		for (size_t j = 0; j < r->comms[i].n_ranks; j++)
			r->comms[i].size = MAX(r->comms[i].size, r->comms[i].ranks[j].rank + 1);
	return 0;
}

int ncclras_parse(struct span answer, struct ncclras_report *ret, struct fault *f)
{
	struct ncclras_report r = {.arena = {.max_bytes = 1 * GIB}};
	struct span s = span_trim(answer);
	int e = s.len && *s.p == '{' ? parse_json(s, &r, f) : parse_text(answer, &r, f);
	if (e) {
		ncclras_done(&r);
		return e;
	}
	*ret = r;
	return 0;
}
