/*
 * The routes of the page's server: one table of method, path and the role that it takes. What stands in no row is
 * refused, so a new method or path is closed until somebody opens it. Pure. docs/formats/api.md.
 */
#pragma once

#include "agent/web/weburl.h"

enum web_role { WEB_NOBODY, WEB_VIEWER, WEB_OPERATOR, WEB_ADMIN };

enum web_route {
	ROUTE_STATIC, /* a file of the page, by its whole path */
	ROUTE_LOGIN,
	ROUTE_LOGIN_CODE,
	ROUTE_LOGOUT,
	ROUTE_ME,
	ROUTE_JOBS,
	ROUTE_JOB,
	ROUTE_RANKS,
	ROUTE_PROCESSES,
	ROUTE_MEMORY,
	ROUTE_SERIES,
	ROUTE_JOB_EVENTS,
	ROUTE_EVENTS,
	ROUTE_INCIDENTS,
	ROUTE_INCIDENT,
	ROUTE_LOGS,
	ROUTE_LOG,
	ROUTE_TIMELINE,
	ROUTE_WAITS,
	ROUTE_STACKS,
	ROUTE_MOMENT,
	ROUTE_NODE,
	ROUTE_DOCTOR,
	ROUTE_PROFILES,
	ROUTE_PROFILE_START,
	ROUTE_PROFILE,
	ROUTE_PROFILE_DATA,
	ROUTE_PROFILE_DROP,
	ROUTE_SIGNAL,
	ROUTE_STREAM,
	ROUTE_OPENAPI,
	ROUTE_RAY_TRACEBACK,
	ROUTE_RAY_CPU,
	ROUTE_RAY_MEMORY,
	ROUTE_METRICS,
};

enum web_method { METHOD_GET, METHOD_POST, METHOD_DELETE, METHOD_OTHER };

struct webroute {
	enum web_route route;
	enum web_role role; /* WEB_NOBODY: open to all who may reach the port */
	const char *id, *id2; /* borrowed from the url; NULL: the path has none */
};

/* HEAD counts as GET. */
enum web_method web_method_of(const char *name);
/*
 * The row of a method and a path: 0; 404: there is no such path; 405: not with this method, allow then has those that
 * go; 400: an id in the path that cannot be one. Paths outside /api, /metrics and Ray's are the page's files, for GET.
 */
int webroute_find(enum web_method method, const struct weburl *u, struct webroute *ret, char allow[static 32]);
/* True of paths that show data: all but the page's files. */
bool webroute_is_data(const struct weburl *u);
const char *web_role_name(enum web_role r);
