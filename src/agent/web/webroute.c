#include "agent/web/webroute.h"

#include <string.h>

#include "base/buf.h"

struct row {
	enum web_method method;
	enum web_role role;
	enum web_route route;
	const char *path; /* '*' is an id */
};

static const struct row rows[] = {
	{METHOD_POST, WEB_NOBODY, ROUTE_LOGIN, "api/v1/login"},
	{METHOD_POST, WEB_VIEWER, ROUTE_LOGIN_CODE, "api/v1/login/code"},
	{METHOD_POST, WEB_NOBODY, ROUTE_LOGOUT, "api/v1/logout"},
	{METHOD_GET, WEB_VIEWER, ROUTE_ME, "api/v1/me"},
	{METHOD_GET, WEB_VIEWER, ROUTE_OPENAPI, "api/v1/openapi.json"},
	{METHOD_GET, WEB_VIEWER, ROUTE_JOBS, "api/v1/jobs"},
	{METHOD_GET, WEB_VIEWER, ROUTE_JOB, "api/v1/jobs/*"},
	{METHOD_GET, WEB_VIEWER, ROUTE_RANKS, "api/v1/jobs/*/ranks"},
	{METHOD_GET, WEB_VIEWER, ROUTE_PROCESSES, "api/v1/jobs/*/processes"},
	{METHOD_GET, WEB_VIEWER, ROUTE_MEMORY, "api/v1/jobs/*/memory"},
	{METHOD_GET, WEB_VIEWER, ROUTE_SERIES, "api/v1/jobs/*/series"},
	{METHOD_GET, WEB_VIEWER, ROUTE_JOB_EVENTS, "api/v1/jobs/*/events"},
	{METHOD_GET, WEB_VIEWER, ROUTE_EVENTS, "api/v1/events"},
	{METHOD_GET, WEB_VIEWER, ROUTE_INCIDENTS, "api/v1/jobs/*/incidents"},
	{METHOD_GET, WEB_VIEWER, ROUTE_INCIDENT, "api/v1/incidents/*"},
	{METHOD_GET, WEB_VIEWER, ROUTE_LOGS, "api/v1/jobs/*/logs"},
	{METHOD_GET, WEB_VIEWER, ROUTE_LOG, "api/v1/jobs/*/logs/*"},
	{METHOD_GET, WEB_VIEWER, ROUTE_TIMELINE, "api/v1/jobs/*/timeline"},
	{METHOD_GET, WEB_VIEWER, ROUTE_WAITS, "api/v1/jobs/*/waits"},
	{METHOD_GET, WEB_VIEWER, ROUTE_STACKS, "api/v1/jobs/*/stacks"},
	{METHOD_GET, WEB_VIEWER, ROUTE_MOMENT, "api/v1/jobs/*/at"},
	{METHOD_POST, WEB_ADMIN, ROUTE_SIGNAL, "api/v1/jobs/*/signal"},
	{METHOD_GET, WEB_VIEWER, ROUTE_NODE, "api/v1/node"},
	{METHOD_GET, WEB_VIEWER, ROUTE_DOCTOR, "api/v1/doctor"},
	{METHOD_GET, WEB_VIEWER, ROUTE_PROFILES, "api/v1/profiles"},
	{METHOD_POST, WEB_OPERATOR, ROUTE_PROFILE_START, "api/v1/profiles"},
	{METHOD_GET, WEB_VIEWER, ROUTE_PROFILE, "api/v1/profiles/*"},
	{METHOD_DELETE, WEB_OPERATOR, ROUTE_PROFILE_DROP, "api/v1/profiles/*"},
	{METHOD_GET, WEB_VIEWER, ROUTE_PROFILE_DATA, "api/v1/profiles/*/data"},
	{METHOD_GET, WEB_VIEWER, ROUTE_STREAM, "api/v1/stream"},
	{METHOD_GET, WEB_OPERATOR, ROUTE_RAY_TRACEBACK, "worker/traceback"},
	{METHOD_GET, WEB_OPERATOR, ROUTE_RAY_CPU, "worker/cpu_profile"},
	{METHOD_GET, WEB_OPERATOR, ROUTE_RAY_MEMORY, "memory_profile"},
	{METHOD_GET, WEB_VIEWER, ROUTE_METRICS, "metrics"},
};

static const char *const method_names[] = {"GET", "POST", "DELETE"};

enum web_method web_method_of(const char *name)
{
	if (strcmp(name, "HEAD") == 0)
		return METHOD_GET;
	for (size_t i = 0; i < ARRAY_SIZE(method_names); i++)
		if (strcmp(method_names[i], name) == 0)
			return (enum web_method)i;
	return METHOD_OTHER;
}

/* True if the path is of this form; ids get the segments at the stars. */
static bool path_fits(const char *path, const struct weburl *u, const char *ids[static 2])
{
	size_t at = 0, n_ids = 0;
	for (const char *p = path; p; at++) {
		const char *slash = strchr(p, '/');
		size_t len = slash ? (size_t)(slash - p) : strlen(p);
		if (at == u->n_segments)
			return false;
		if (*p == '*')
			ids[n_ids++] = u->segment[at];
		else if (strlen(u->segment[at]) != len || memcmp(u->segment[at], p, len) != 0)
			return false;
		p = slash ? slash + 1 : NULL;
	}
	return at == u->n_segments;
}

bool webroute_is_data(const struct weburl *u)
{
	static const char *const heads[] = {"api", "metrics", "worker", "task", "memory_profile"};
	for (size_t i = 0; i < ARRAY_SIZE(heads) && u->n_segments > 0; i++)
		if (strcmp(u->segment[0], heads[i]) == 0)
			return true;
	return false;
}

static int page_file(enum web_method method, struct webroute *ret, char allow[static 32])
{
	*ret = (struct webroute){.route = ROUTE_STATIC, .role = WEB_NOBODY};
	text_copy(allow, 32, "GET, HEAD");
	return method == METHOD_GET ? 0 : 405;
}

int webroute_find(enum web_method method, const struct weburl *u, struct webroute *ret, char allow[static 32])
{
	struct buf b = {.text = allow, .cap = 32};
	bool any = false;
	buf_reset(&b);
	if (!webroute_is_data(u))
		return page_file(method, ret, allow);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *ids[2] = {NULL, NULL};
		if (!path_fits(rows[i].path, u, ids))
			continue;
		any = true;
		buf_printf(&b, "%s%s", b.len ? ", " : "", method_names[rows[i].method]);
		if (rows[i].method == METHOD_GET)
			buf_add(&b, ", HEAD");
		if (rows[i].method != method)
			continue;
		*ret = (struct webroute){rows[i].route, rows[i].role, ids[0], ids[1]};
		return (ids[0] && !weburl_is_id(ids[0])) || (ids[1] && !weburl_is_id(ids[1])) ? 400 : 0;
	}
	return any ? 405 : 404;
}

const char *web_role_name(enum web_role r)
{
	static const char *const names[] = {"nobody", "viewer", "operator", "admin"};
	return names[r];
}
