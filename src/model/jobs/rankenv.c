#include "model/jobs/rankenv.h"

#include <string.h>

#include "base/buf.h"

/* Limit of a plausible rank number; larger than any real job. */
#define MOST_RANKS 10000000
#define MOST_VALUES 6
#define MOST_LINES 256

struct family {
	const char *rank, *local, *world, *local_world;
};
/* The first family whose rank variable is set numbers the process. */
static const struct family families[] = {
	{"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"PMIX_RANK", "", "", ""},
	{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS"},
	{"HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE"},
	{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", ""},
	{"RANK_ID", "DEVICE_ID", "RANK_SIZE", ""},
};

/* Settings that may differ between ranks without harm: log destinations and verbosity, and the nearest adapter. */
static const char *const own_settings[] = {
	"NCCL_DEBUG",	       "NCCL_DEBUG_FILE",      "NCCL_DEBUG_SUBSYS",    "NCCL_DEBUG_TIMESTAMP_FORMAT",
	"NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_IB_HCA",	       "NCCL_SOCKET_IFNAME",
	"NCCL_HOSTID",	       "NCCL_RAS_ADDR",	       "NCCL_PROFILER_PLUGIN", "NCCL_COMM_ID",
};

static const char *const kind_names[RANKENV_KINDS] = {
	[RANKENV_RANK_MISSING] = "rank_missing",     [RANKENV_RANK_TWICE] = "rank_twice",
	[RANKENV_RANK_RANGE] = "rank_out_of_range",  [RANKENV_WORLD_DIFFERS] = "world_size_differs",
	[RANKENV_MASTER_MISSING] = "master_missing", [RANKENV_MASTER_DIFFERS] = "master_differs",
	[RANKENV_NOT_STARTED] = "ranks_not_started", [RANKENV_NCCL_DIFFERS] = "nccl_settings_differ",
};

struct member {
	const struct rankenv_process *p;
	const struct family *family; /* NULL: no rank variable is set */
	int64_t rank, world, local, local_world; /* -1: unknown */
};

struct comparing {
	struct member of[RANKENV_MEMBERS];
	size_t n;
	struct rankenv *e;
};

static struct span variable(struct span block, const char *name)
{
	size_t n = strlen(name);
	while (n > 0 && block.len > 0) {
		const char *end = memchr(block.p, '\0', block.len);
		size_t len = end ? (size_t)(end - block.p) : block.len;
		/* if a name occurs twice, getenv() returns the first */
		if (len > n && block.p[n] == '=' && memcmp(block.p, name, n) == 0)
			return (struct span){block.p + n + 1, len - n - 1};
		len += end ? 1 : 0;
		block.p += len;
		block.len -= len;
	}
	return (struct span){NULL, 0};
}

static bool has(struct span block, const char *name)
{
	return variable(block, name).p != NULL;
}

static int64_t rankenv_number(struct span block, const char *name)
{
	struct span v = variable(block, name);
	uint64_t n;
	return v.p && span_u64(v, &n) == 0 && n < MOST_RANKS ? (int64_t)n : -1;
}

static void member_read(const struct rankenv_process *p, struct member *m)
{
	*m = (struct member){.p = p, .rank = p->known_rank, .world = -1, .local = -1, .local_world = -1};
	for (size_t i = 0; i < ARRAY_SIZE(families) && !m->family; i++) {
		const struct family *f = &families[i];
		int64_t rank = rankenv_number(p->environ, f->rank);
		if (rank < 0)
			continue;
		m->family = f;
		m->rank = rank;
		m->world = rankenv_number(p->environ, f->world);
		m->local = rankenv_number(p->environ, f->local);
		m->local_world = rankenv_number(p->environ, f->local_world);
	}
}

/* ---- findings ---- */

static struct rankenv_finding *finding(struct rankenv *e, enum rankenv_kind kind, const char *name)
{
	if (e->n_findings == RANKENV_FINDINGS) {
		e->n_dropped++;
		return NULL;
	}
	struct rankenv_finding *f = &e->finding[e->n_findings++];
	*f = (struct rankenv_finding){.kind = kind};
	TEXT_COPY(f->variable, name);
	return f;
}

static void rank_put(struct rankenv_finding *f, int64_t rank)
{
	for (size_t i = 0; i < f->n_ranks; i++)
		if (f->ranks[i] == rank)
			return;
	if (rank >= 0 && f->n_ranks < RANKENV_RANKS)
		f->ranks[f->n_ranks++] = (int32_t)rank;
}

static void member_put(struct rankenv_finding *f, const struct member *m)
{
	rank_put(f, m->rank);
	if (m->p->pid > 0 && f->n_pids < ARRAY_SIZE(f->pids))
		f->pids[f->n_pids++] = m->p->pid;
}

/* One value of a variable, and how many processes have it. */
struct value {
	struct span text; /* p NULL: unset */
	size_t n;
	size_t first; /* index of the first member with this value */
};

static bool rankenv_same(struct span a, struct span b)
{
	if (!a.p || !b.p)
		return a.p == b.p;
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

static size_t values_of(const struct comparing *c, const char *name, struct value v[MOST_VALUES])
{
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (c->of[i].p->environ.len == 0)
			continue;
		struct span text = variable(c->of[i].p->environ, name);
		if (c->of[i].p->numbered && !text.p)
			continue;
		size_t k = 0;
		while (k < n && !rankenv_same(v[k].text, text))
			k++;
		if (k == n && n < MOST_VALUES)
			v[n++] = (struct value){.text = text, .first = i};
		if (k < n)
			v[k].n++;
	}
	return n;
}

/* Appends the ranks that have this value of the variable, or the pid of a process without a rank. */
static void holders_add(const struct comparing *c, const char *name, struct span text, struct buf *b)
{
	size_t shown = 0, left = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct member *m = &c->of[i];
		if (m->p->environ.len == 0 || (m->p->numbered && !text.p) ||
		    !rankenv_same(variable(m->p->environ, name), text))
			continue;
		if (shown++ >= 8)
			left++;
		else if (m->rank >= 0)
			buf_printf(b, " %lld", (long long)m->rank);
		else
			buf_printf(b, " pid %d", (int)m->p->pid);
	}
	if (left > 0)
		buf_printf(b, " and %zu more", left);
}

static void values_text(const struct comparing *c, const char *name, const struct value *v, size_t n,
			struct rankenv_finding *f)
{
	struct buf b = BUF_ON(f->text);
	buf_reset(&b);
	for (size_t i = 0; i < n; i++) {
		char text[40];
		span_copy(v[i].text.p ? v[i].text : SPAN("unset"), text, sizeof(text));
		buf_printf(&b, "%s%s on", i ? "; " : "", text);
		holders_add(c, name, v[i].text, &b);
	}
}

static size_t most_common(const struct value *v, size_t n)
{
	size_t best = 0;
	for (size_t i = 1; i < n; i++)
		if (v[i].n > v[best].n)
			best = i;
	return best;
}

/* Adds the members that differ from the most common value; none if two values are equally common. */
static void minority_add(const struct comparing *c, const char *name, const struct value *v, size_t n,
			 struct rankenv_finding *f)
{
	size_t best = most_common(v, n), ties = 0;
	for (size_t i = 0; i < n; i++)
		ties += v[i].n == v[best].n;
	for (size_t i = 0; i < c->n && ties == 1; i++)
		if (c->of[i].p->environ.len > 0 && !(c->of[i].p->numbered && !has(c->of[i].p->environ, name)) &&
		    !rankenv_same(variable(c->of[i].p->environ, name), v[best].text))
			member_put(f, &c->of[i]);
}

static bool local_name(struct span host)
{
	return span_starts(host, "127.") || span_eq(host, "localhost") || span_eq(host, "::1");
}

static void differs(struct comparing *c, enum rankenv_kind kind, const char *name)
{
	struct value v[MOST_VALUES];
	size_t n = values_of(c, name, v), unset = SIZE_MAX, loopback = 0;
	for (size_t i = 0; i < n; i++)
		loopback += v[i].text.p && local_name(v[i].text);
	if (n < 2 || loopback == n)
		return; /* all of these names mean this machine */
	for (size_t i = 0; i < n; i++)
		if (!v[i].text.p)
			unset = i;
	if (unset != SIZE_MAX && kind == RANKENV_MASTER_DIFFERS) {
		struct rankenv_finding *f = finding(c->e, RANKENV_MASTER_MISSING, name);
		for (size_t i = 0; f && i < c->n; i++)
			if (c->of[i].p->environ.len > 0 && !c->of[i].p->numbered && !has(c->of[i].p->environ, name))
				member_put(f, &c->of[i]);
		if (f)
			values_text(c, name, v, n, f);
		if (n == 2)
			return;
	}
	struct rankenv_finding *f = finding(c->e, kind, name);
	if (!f)
		return;
	minority_add(c, name, v, n, f);
	values_text(c, name, v, n, f);
}

/* ---- ranks ---- */

/* Finds processes without a rank where others have one, or where other variables name peers. */
static void ranks_missing(struct comparing *c)
{
	struct rankenv_finding *f = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct member *m = &c->of[i];
		if (m->family || m->p->environ.len == 0 || m->p->numbered)
			continue;
		bool has_peers = rankenv_number(m->p->environ, "WORLD_SIZE") > 1 ||
				 (has(m->p->environ, "MASTER_ADDR") && has(m->p->environ, "WORLD_SIZE"));
		if (c->e->n_ranked == 0 && !has_peers)
			continue;
		if (!f) {
			f = finding(c->e, RANKENV_RANK_MISSING, "RANK");
			if (!f)
				return;
			struct span v = variable(m->p->environ, "RANK");
			TEXT_COPY(f->text, !v.p		? "it is not set"
					   : v.len == 0 ? "it is set and empty"
							: "it is no number");
		}
		member_put(f, m);
	}
}

static bool rank_seen_before(const struct comparing *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (c->of[k].family && c->of[k].rank == c->of[i].rank)
			return true;
	return false;
}

static void ranks_twice(struct comparing *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct rankenv_finding *f = NULL;
		if (!c->of[i].family || rank_seen_before(c, i))
			continue;
		for (size_t k = i + 1; k < c->n; k++) {
			if (!c->of[k].family || c->of[k].rank != c->of[i].rank)
				continue;
			if (!f) {
				f = finding(c->e, RANKENV_RANK_TWICE, c->of[i].family->rank);
				if (!f)
					return;
				member_put(f, &c->of[i]);
				TEXT_FORMAT(f->text, "%lld is given to more than one process",
					    (long long)c->of[i].rank);
			}
			member_put(f, &c->of[k]);
		}
	}
}

static void ranks_range(struct comparing *c)
{
	struct rankenv_finding *f = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct member *m = &c->of[i];
		if (!m->family || m->world < 0 || m->rank < m->world)
			continue;
		if (!f) {
			f = finding(c->e, RANKENV_RANK_RANGE, m->family->rank);
			if (!f)
				return;
			TEXT_FORMAT(f->text, "%lld where %s is %lld", (long long)m->rank, m->family->world,
				    (long long)m->world);
		}
		member_put(f, m);
	}
}

/* True if they meet at a loopback address, or at a port of which no address is told: it is one of this machine. */
static bool meets_here(struct span variables)
{
	struct span address = variable(variables, "MASTER_ADDR");
	return address.p ? local_name(address) : variable(variables, "MASTER_PORT").p != NULL;
}

/*
 * The ranks expected on this machine: [*first, *first + *n). Known only if the launcher says how many are here, if
 * all meet at a loopback address, or if all ranks are on this machine.
 */
static bool expected_here(const struct comparing *c, int64_t *first, int64_t *n)
{
	const struct member *any = NULL;
	for (size_t i = 0; i < c->n && !any; i++)
		if (c->of[i].family && c->of[i].world > 0)
			any = &c->of[i];
	if (!any)
		return false;
	int64_t world = c->e->world_size;
	if (any->local_world > 0 && any->local_world < world && any->local >= 0) {
		*first = any->rank - any->local;
		*n = any->local_world;
		return *first >= 0;
	}
	struct span nodes = variable(any->p->environ, "SLURM_JOB_NUM_NODES");
	if (any->local_world != world && !meets_here(any->p->environ) &&
	    !(nodes.p && span_eq(nodes, "1")))
		return false;
	*first = 0;
	*n = world;
	return true;
}

static bool rank_seen(const struct comparing *c, int64_t rank)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->of[i].rank == rank)
			return true;
	return false;
}

static void ranks_not_started(struct comparing *c)
{
	struct rankenv_finding *f = NULL;
	int64_t first, n, missing = 0;
	/* an unreadable process may be one of the missing ranks */
	if (c->e->n_unreadable > 0 || c->e->n_processes > RANKENV_MEMBERS || !expected_here(c, &first, &n))
		return;
	for (int64_t r = first; r < first + n; r++) {
		if (rank_seen(c, r))
			continue;
		f = f ? f : finding(c->e, RANKENV_NOT_STARTED, "WORLD_SIZE");
		if (!f)
			return;
		rank_put(f, r);
		missing++;
	}
	if (f)
		TEXT_FORMAT(f->text, "%lld of %lld ranks have no process here", (long long)missing, (long long)n);
}

/* ---- settings ---- */

static bool own_setting(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_settings); i++)
		if (strcmp(own_settings[i], name) == 0)
			return true;
	return false;
}

static bool next_entry(struct span *block, char *name, size_t cap, struct span *ret_entry)
{
	while (block->len > 0) {
		const char *end = memchr(block->p, '\0', block->len);
		struct span entry = {block->p, end ? (size_t)(end - block->p) : block->len};
		size_t whole = entry.len + (end ? 1 : 0);
		block->p += whole;
		block->len -= whole;
		struct span key = span_before(entry, "=");
		if (key.len == 0 || key.len == entry.len || key.len >= cap)
			continue;
		span_copy(key, name, cap);
		*ret_entry = entry;
		return true;
	}
	return false;
}

/* True if no process before the i-th has this variable. */
static bool first_with(const struct comparing *c, size_t i, const char *name)
{
	for (size_t k = 0; k < i; k++)
		if (has(c->of[k].p->environ, name))
			return false;
	return true;
}

static void nccl_settings(struct comparing *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct span block = c->of[i].p->environ, entry;
		char name[48];
		while (next_entry(&block, name, sizeof(name), &entry))
			if (strncmp(name, "NCCL_", 5) == 0 && !own_setting(name) && first_with(c, i, name))
				differs(c, RANKENV_NCCL_DIFFERS, name);
	}
}

/* Verbosity of a value of NCCL_DEBUG, from 1; 0: not a known value. */
static size_t verbosity_of(struct span v)
{
	static const char *const levels[] = {"VERSION", "WARN", "INFO", "ABORT", "TRACE"};
	char text[16];
	span_copy(v, text, sizeof(text));
	for (size_t i = 0; text[i]; i++)
		if (text[i] >= 'a' && text[i] <= 'z')
			text[i] = (char)(text[i] - 'a' + 'A');
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strcmp(text, levels[i]) == 0)
			return i + 1;
	return 0;
}

static void first_value(const struct comparing *c, const char *name, char *dst, size_t cap)
{
	for (size_t i = 0; i < c->n && dst[0] == '\0'; i++) {
		struct span v = variable(c->of[i].p->environ, name);
		if (v.p)
			span_copy(v, dst, cap);
	}
}

static void settings_read(struct comparing *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct span v = variable(c->of[i].p->environ, "NCCL_DEBUG");
		if (v.p && verbosity_of(v) >= verbosity_of(span_of(c->e->nccl_debug)))
			span_copy(v, c->e->nccl_debug, sizeof(c->e->nccl_debug));
		c->e->nccl_debug_file |= has(c->of[i].p->environ, "NCCL_DEBUG_FILE");
	}
	first_value(c, "NCCL_IB_TIMEOUT", c->e->ib_timeout, sizeof(c->e->ib_timeout));
	first_value(c, "NCCL_IB_RETRY_CNT", c->e->ib_retries, sizeof(c->e->ib_retries));
}

static void world_size(struct comparing *c)
{
	size_t best = 0;
	for (size_t i = 0; i < c->n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < c->n; k++)
			n += c->of[k].family && c->of[k].world == c->of[i].world;
		if (c->of[i].family && c->of[i].world > 0 && n > best) {
			best = n;
			c->e->world_size = (uint32_t)c->of[i].world;
		}
		bool elsewhere = c->of[i].local_world > 0 && c->of[i].local_world < c->of[i].world;
		c->e->multi_node |= elsewhere || rankenv_number(c->of[i].p->environ, "SLURM_JOB_NUM_NODES") > 1 ||
				    rankenv_number(c->of[i].p->environ, "MA_NUM_HOSTS") > 1 ||
				    rankenv_number(c->of[i].p->environ, "GROUP_WORLD_SIZE") > 1;
	}
}

/* Each family has its own variable for the number of ranks; each is compared under its own name. */
static void worlds_differ(struct comparing *c)
{
	for (size_t k = 0; k < ARRAY_SIZE(families); k++)
		for (size_t i = 0; i < c->n; i++)
			if (c->of[i].family == &families[k] && families[k].world[0]) {
				differs(c, RANKENV_WORLD_DIFFERS, families[k].world);
				break;
			}
}

void rankenv_compare(const struct rankenv_process *p, size_t n, struct rankenv *ret)
{
	struct comparing c = {.e = ret};
	memset(ret, 0, sizeof(*ret));
	ret->n_processes = n;
	for (size_t i = 0; i < n && c.n < RANKENV_MEMBERS; i++) {
		struct member *m = &c.of[c.n++];
		member_read(&p[i], m);
		ret->n_ranked += m->family != NULL;
		ret->n_unreadable += p[i].environ.len == 0 && p[i].known_rank == NO_RANK;
	}
	world_size(&c);
	settings_read(&c);
	ranks_missing(&c);
	ranks_twice(&c);
	ranks_range(&c);
	worlds_differ(&c);
	differs(&c, RANKENV_MASTER_DIFFERS, "MASTER_ADDR");
	differs(&c, RANKENV_MASTER_DIFFERS, "MASTER_PORT");
	ranks_not_started(&c);
	nccl_settings(&c);
}

bool rankenv_contradicts(const struct rankenv *e)
{
	for (size_t i = 0; i < e->n_findings; i++)
		if (e->finding[i].kind != RANKENV_NCCL_DIFFERS)
			return true;
	return false;
}

void rankenv_line(const struct rankenv_finding *f, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	buf_printf(&b, "%s %s ranks=", kind_names[f->kind], f->variable);
	for (size_t i = 0; i < f->n_ranks; i++)
		buf_printf(&b, "%s%d", i ? "," : "", f->ranks[i]);
	if (f->n_pids > 0)
		buf_add(&b, " pids=");
	for (size_t i = 0; i < f->n_pids; i++)
		buf_printf(&b, "%s%d", i ? "," : "", (int)f->pids[i]);
	buf_printf(&b, ": %s", f->text);
}

static bool is_in_rule_book(const char *name)
{
	static const char *const prefixes[] = {"NCCL_", "TORCH_NCCL_", "TORCH_FR_", "TORCH_DIST",
					       "GLOO_", "HCCL_",       "OMP_NUM_",  "MASTER_"};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool entry_before(const struct rankenv_process *p, size_t i, const char *name, struct span entry)
{
	for (size_t k = 0; k < i; k++) {
		struct span v = variable(p[k].environ, name);
		if (v.p && rankenv_same(v, span_after(entry, "=")))
			return true;
	}
	return false;
}

void rankenv_lines(const struct rankenv_process *p, size_t n, const struct rankenv *e, rankenv_line_fn *fn, void *data)
{
	char line[512], name[48];
	size_t lines = 0;
	bool has_debug = false, any = false;
	for (; lines < e->n_findings; lines++) {
		rankenv_line(&e->finding[lines], line, sizeof(line));
		fn(data, line);
	}
	for (size_t i = 0; i < MIN(n, (size_t)RANKENV_MEMBERS); i++) {
		struct span block = p[i].environ, entry;
		any |= block.len > 0;
		while (next_entry(&block, name, sizeof(name), &entry)) {
			has_debug |= strcmp(name, "NCCL_DEBUG") == 0;
			if (lines == MOST_LINES - 1 || !is_in_rule_book(name) || entry_before(p, i, name, entry))
				continue;
			span_copy(entry, line, sizeof(line));
			fn(data, line);
			lines++;
		}
	}
	if (any && !has_debug)
		fn(data, "NCCL_DEBUG unset");
}
