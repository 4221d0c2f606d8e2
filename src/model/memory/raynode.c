#include "model/memory/raynode.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "model/jobs/raytitle.h"

#define DEPTH_MOST 32 /* of a process below its raylet */

/* The value of "--key=value" among the arguments; p NULL: it is not there. */
static struct span argument(struct span argv, const char *key)
{
	size_t n = strlen(key);
	while (argv.len > 0) {
		const char *end = memchr(argv.p, '\0', argv.len);
		size_t len = end ? (size_t)(end - argv.p) : argv.len;
		if (len > n && memcmp(argv.p, key, n) == 0 && argv.p[n] == '=')
			return (struct span){argv.p + n + 1, len - n - 1};
		len += end ? 1 : 0;
		argv.p += len;
		argv.len -= len;
	}
	return (struct span){NULL, 0};
}

static void argument_copy(struct span argv, const char *key, char *dst, size_t cap)
{
	struct span value = argument(argv, key);
	dst[0] = '\0';
	if (value.p)
		span_copy(value, dst, cap);
}

bool raynode_of(struct span argv, struct raynode *ret)
{
	struct raynode n = {.raylet = 0};
	struct span limit = argument(argv, "--object_store_memory");
	if (!argument(argv, "--raylet_socket_name").p)
		return false;
	argument_copy(argv, "--session-name", n.session, sizeof(n.session));
	argument_copy(argv, "--node_id", n.id, sizeof(n.id));
	argument_copy(argv, "--node_ip_address", n.address, sizeof(n.address));
	if (limit.p && span_u64(limit, &n.store_limit_bytes) < 0)
		n.store_limit_bytes = 0;
	*ret = n;
	return true;
}

void raynode_spill_folder(struct span argv, char *dst, size_t cap)
{
	char folder[256], id[80];
	argument_copy(argv, "--fallback_directory", folder, sizeof(folder));
	argument_copy(argv, "--node_id", id, sizeof(id));
	dst[0] = '\0';
	if (folder[0] == '/')
		text_format(dst, cap, "%s/ray_spilled_objects%s%s", folder, id[0] ? "_" : "", id);
}

static const struct footprint_row *row_of(const struct footprint *f, pid_t pid)
{
	for (size_t i = 0; pid > 1 && i < f->n; i++)
		if (f->rows[i].pid == pid)
			return &f->rows[i];
	return NULL;
}

static struct raynode *node_of(struct footprint *f, const struct footprint_row *row)
{
	for (size_t k = 0; k < f->n_rays; k++)
		if (f->ray[k].raylet == row->pid)
			return &f->ray[k];
	return NULL;
}

/* Which of Ray's own programs a command line is of. NULL: none. */
static const struct raynode_part *program_of(const struct footprint_row *row)
{
	static const struct {
		const char *piece;
		struct raynode_part part;
	} programs[] = {
		{"/gcs/gcs_server", {.kind = "gcs_server", .name = "gcs_server"}},
		{"ray::DashboardAgent", {.kind = "agent", .name = "DashboardAgent"}},
		{"ray::RuntimeEnvAgent", {.kind = "agent", .name = "RuntimeEnvAgent"}},
		{"/ray/dashboard/agent.py", {.kind = "agent", .name = "DashboardAgent"}},
		{"/ray/_private/runtime_env/agent/", {.kind = "agent", .name = "RuntimeEnvAgent"}},
		{"/ray/dashboard/dashboard.py", {.kind = "dashboard", .name = "dashboard"}},
		{"ray-dashboard-", {.kind = "dashboard", .name = "dashboard"}},
		{"/ray/_private/log_monitor.py", {.kind = "monitor", .name = "log_monitor"}},
		{"/ray/autoscaler/_private/monitor.py", {.kind = "monitor", .name = "autoscaler"}},
	};
	struct span command = span_of(row->command);
	if (!row->has_role || row->who.role != ROLE_RAY_SYSTEM)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (span_has(command, programs[i].piece))
			return &programs[i].part;
	return NULL;
}

static bool is_worker(const struct footprint_row *row, struct raytitle *ret)
{
	return row->who.role == ROLE_RAY_WORKER && raytitle_of(span_of(row->command), ret);
}

/* The node whose session's folder the command line has; a cut one is the only node's. */
static struct raynode *node_by_session(struct footprint *f, const struct footprint_row *row)
{
	for (size_t k = 0; k < f->n_rays; k++)
		if (f->ray[k].session[0] && span_has(span_of(row->command), f->ray[k].session))
			return &f->ray[k];
	return f->n_rays == 1 && !span_has(span_of(row->command), "/session_") ? &f->ray[0] : NULL;
}

/* What a process counts to: the nearest of Ray's own programs or workers above it, or itself. */
static struct raynode *place(struct footprint *f, const struct footprint_row *row, struct raynode_part *ret)
{
	struct raytitle title;
	struct raynode *seen = NULL;
	bool named = false;
	*ret = (struct raynode_part){.kind = "other", .name = "other programs"};
	for (size_t depth = 0; row && !seen && depth < DEPTH_MOST; depth++) {
		const struct raynode_part *own = program_of(row);
		bool worker = is_worker(row, &title);
		seen = node_of(f, row);
		if (seen && depth == 0)
			*ret = (struct raynode_part){.kind = "raylet", .name = "raylet"};
		if (own && !named)
			*ret = *own;
		if (worker && !named) { /* a fork of it, and what it started, count to it */
			*ret = (struct raynode_part){.kind = "worker"};
			span_copy(title.name, ret->name, sizeof(ret->name));
		}
		named |= own || worker;
		if (own && !seen)
			seen = node_by_session(f, row);
		row = seen ? NULL : row_of(f, row->ppid);
	}
	return seen;
}

static struct raynode_part *raynode_part_of(struct raynode *n, const struct raynode_part *want)
{
	static const struct raynode_part rest = {.kind = "worker", .name = "(others)"};
	for (size_t i = 0; i < n->n_parts; i++)
		if (strcmp(n->part[i].name, want->name) == 0 && strcmp(n->part[i].kind, want->kind) == 0)
			return &n->part[i];
	if (n->n_parts == RAYNODE_PARTS)
		return NULL;
	/* the last place is for all that find none */
	n->part[n->n_parts] = n->n_parts == RAYNODE_PARTS - 1 ? rest : *want;
	return &n->part[n->n_parts++];
}

static int by_own_bytes(const void *a, const void *b)
{
	const struct raynode_part *x = a, *y = b;
	if (x->own_bytes != y->own_bytes)
		return x->own_bytes < y->own_bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

void raynode_settle(struct footprint *f)
{
	for (size_t k = 0; k < f->n_rays; k++)
		f->ray[k].n_parts = 0;
	for (size_t i = 0; f->n_rays > 0 && i < f->n; i++) {
		const struct footprint_row *row = &f->rows[i];
		struct raynode_part want;
		struct raynode *n = place(f, row, &want);
		struct raynode_part *p = n ? raynode_part_of(n, &want) : NULL;
		if (n && !p)
			p = &n->part[RAYNODE_PARTS - 1];
		if (!p)
			continue;
		p->processes++;
		p->own_bytes = add_cap(p->own_bytes, row->own_bytes);
		p->rss_bytes = add_cap(p->rss_bytes, row->rss_bytes);
		p->swap_bytes = add_cap(p->swap_bytes, row->swap_bytes);
	}
	for (size_t k = 0; k < f->n_rays; k++)
		qsort(f->ray[k].part, f->ray[k].n_parts, sizeof(f->ray[k].part[0]), by_own_bytes);
}
