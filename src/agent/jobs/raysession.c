#include "agent/jobs/raysession.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "model/jobs/role.h"
#include "model/memory/raynode.h"
#include "sense/proc/proc.h"

#define ARGUMENTS_CAP (128 * 1024)

static bool user_of(const struct world *w, pid_t pid, uid_t *ret)
{
	struct proc_status st;
	if (proc_status_read(w, pid, &st) != 0)
		return false;
	*ret = st.uid;
	return true;
}

bool raysession_of(const struct world *w, const struct task_row *raylet, struct raysession *ret)
{
	struct raynode node;
	struct raysession s = {.uid = 0};
	size_t len;
	if (strcmp(raylet->comm, "raylet") != 0)
		return false;
	cleanup(freep) char *arguments = malloc(ARGUMENTS_CAP);
	if (!arguments || proc_arguments_read(w, raylet->pid, arguments, ARGUMENTS_CAP, &len) != 0 ||
	    !raynode_of((struct span){arguments, len}, &node) || !span_starts(span_of(node.session), "session_") ||
	    !user_of(w, raylet->pid, &s.uid))
		return false;
	TEXT_COPY(s.name, node.session);
	*ret = s;
	return true;
}

bool raysession_has(const struct world *w, const struct raysession *s, const struct task_row *t)
{
	char command[4096], folder[sizeof(s->name) + 2];
	struct role_info who;
	uid_t uid;
	if (proc_command_read(w, t->pid, command, sizeof(command)) != 0)
		return false;
	TEXT_FORMAT(folder, "/%s", s->name);
	const char *at = strstr(command, folder);
	const char after = at ? at[strlen(folder)] : 'x';
	if (after != '/' && after != ' ' && after != '\0')
		return false;
	const struct role_input in = {.comm = span_of(t->comm), .command = span_of(command)};
	role_of(&in, &who);
	return who.role == ROLE_RAY_SYSTEM && user_of(w, t->pid, &uid) && uid == s->uid;
}
