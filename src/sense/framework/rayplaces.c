#include "sense/framework/rayplaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"

#define STATE_MOST (256 * KIB) /* what is looked for stands in its first part */
#define HEAD_BYTES (32 * KIB)
#define TAIL_BYTES (32 * KIB) /* a status has about 1 KB */
#define FIXED_POINT 10000.0 /* Ray counts resources in ten thousandths */
#define COUNT_MOST UINT64_C(1000000)

/* A number in front. False: there is none, or it is larger than what any machine has. */
static bool amount_parse(struct span s, double *ret)
{
	char text[40], *end;
	span_copy(s, text, sizeof(text));
	if (text[0] < '0' || text[0] > '9')
		return false;
	*ret = strtod(text, &end);
	return isfinite(*ret) && *ret < 1e18;
}

static struct span from(struct span s, const char *at)
{
	return (struct span){at, s.len - (size_t)(at - s.p)};
}

static struct span until(struct span s, const char *at)
{
	return (struct span){s.p, (size_t)(at - s.p)};
}

static void set_add(struct rayplaces_set *s, struct span name, double amount)
{
	char text[sizeof(s->of[0].name)];
	if (name.len == 0 || name.len >= sizeof(text)) {
		s->cut = true;
		return;
	}
	span_copy(name, text, sizeof(text));
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->of[i].name, text) == 0) {
			s->of[i].amount += amount;
			return;
		}
	if (s->n == RAYPLACES_KINDS) {
		s->cut = true;
		return;
	}
	struct rayplaces_kind *k = &s->of[s->n++];
	*k = (struct rayplaces_kind){.amount = amount};
	TEXT_COPY(k->name, text);
}

/* ---- the raylet's state ---- */

/* "10000, 0": the parts of a resource, as one for each device. */
static double instances_sum(struct span list, bool *ret_cut)
{
	double sum = 0, one;
	while (list.len > 0) {
		if (amount_parse(span_trim(span_before(list, ",")), &one))
			sum += one;
		else
			*ret_cut = true;
		list = span_after(list, ",");
	}
	return sum / FIXED_POINT;
}

/* "CPU: [20000], GPU: [10000, 0], node:10.0.0.1: [10000]" */
static void instances_parse(struct span s, struct rayplaces_set *ret)
{
	const char *at;
	while ((at = span_find(s, ": [")) != NULL) {
		const struct span name = span_trim(until(s, at)), list = from(s, at + 3);
		const char *end = span_find(list, "]");
		if (!end) {
			ret->cut = true;
			return;
		}
		/* parts that placement groups have reserved bear their names, and are known by what is not free */
		if (!span_has(name, "_group_"))
			set_add(ret, name, instances_sum(until(list, end), &ret->cut));
		s = from(list, end + 1);
		if (span_starts(s, ","))
			s = from(s, s.p + 1);
	}
}

/* "CPU: 1, memory: 1e+09" */
static void amounts_parse(struct span s, struct rayplaces_set *ret)
{
	const char *at;
	/* a name may have a colon, but no blank behind it */
	while ((at = span_find(s, ": ")) != NULL) {
		const struct span value = from(s, at + 2);
		double amount;
		if (amount_parse(span_before(value, ","), &amount))
			set_add(ret, span_trim(until(s, at)), amount);
		else
			ret->cut = true;
		s = span_after(value, ",");
		if (!s.p)
			return;
	}
}

/* "    - (language=PYTHON actor_or_taskfold pid=1946 worker_id=1495…): {slot: 1}" */
static bool holder_parse(struct span line, struct rayplaces_holder *ret)
{
	struct rayplaces_holder h = {.pid = 0};
	const char *pid = span_rfind(line, " pid="), *has = span_rfind(line, "): {");
	const struct span name = span_after(line, "actor_or_task");
	uint64_t number;
	if (!pid || !has || !name.p || pid < name.p || has < pid)
		return false;
	if (span_u64_prefix(from(line, pid + 5), &number) < 0 || number == 0 || number > INT32_MAX)
		return false;
	h.pid = (pid_t)number;
	span_copy(until(name, pid), h.name, sizeof(h.name));
	const struct span set = span_trim(from(line, has + 3));
	span_copy(set, h.text, sizeof(h.text));
	amounts_parse(span_before(span_after(set, "{"), "}"), &h.has);
	*ret = h;
	return true;
}

/* Up to the line "}". */
static void holders_parse(struct span text, struct rayplaces *p)
{
	struct span line;
	p->n_holders = 0;
	p->holders_cut = true;
	bool cut = false;
	while (span_line(&text, &line)) {
		if (span_starts(line, "}")) {
			p->holders_cut = cut;
			return;
		}
		if (p->n_holders == RAYPLACES_HOLDERS || !holder_parse(line, &p->holder[p->n_holders]))
			cut = true;
		else
			p->n_holders++;
	}
}

/* "- num PYTHON drivers: 1", one line a language: the sum over the lines that begin and go on so. */
static uint64_t lines_sum(struct span text, const char *begin, const char *key)
{
	struct span line;
	uint64_t sum = 0, n;
	while (span_line(&text, &line)) {
		const struct span number = span_after(line, key);
		if (span_starts(line, begin) && number.p)
			sum += span_u64_prefix(number, &n) == 0 && n < COUNT_MOST ? n : COUNT_MOST;
	}
	return sum;
}

bool rayplaces_state_parse(struct span text, struct rayplaces *ret)
{
	const struct span total = span_after(text, "Local resources: {\"total\":{");
	const struct span available = span_after(total, "\"available\": {");
	const struct span usage = span_after(available, "\nResource usage {\n");
	if (!span_starts(text, "NodeManager:") || !total.p || !available.p || !usage.p)
		return false;
	ret->total = ret->available = (struct rayplaces_set){.n = 0};
	instances_parse(span_before(total, "}"), &ret->total);
	instances_parse(span_before(available, "}"), &ret->available);
	holders_parse(usage, ret);
	ret->groups = span_has(span_before(total, "}"), "_group_");
	ret->drivers = lines_sum(usage, "- num ", " drivers: ");
	ret->starting = lines_sum(text, "num_tasks_waiting_for_workers", ": ") +
			lines_sum(usage, "- num ", " pending start requests: ") +
			lines_sum(usage, "- num ", " pending registration requests: ");
	ret->has_state = true;
	return true;
}

/* ---- the monitor's status ---- */

/* "'CPU': 1.0, 'slot': 2.0" */
static void shape_parse(struct span s, double times, struct rayplaces_set *ret)
{
	while (s.p && s.len > 0) {
		const struct span name = span_before(span_after(s, "'"), "': "), value = span_after(s, "': ");
		double amount;
		if (!span_starts(s, "'") || !value.p || !amount_parse(span_before(value, ","), &amount)) {
			ret->cut = true;
			return;
		}
		set_add(ret, name, amount * times);
		s = span_after(value, ", ");
	}
}

/* "{'CPU': 1.0} * 4, {'GPU': 1.0} * 2 (PACK)"; of a task or actor without numbers. */
static void bundles_parse(struct span s, struct rayplaces_demand *d)
{
	while (span_starts(s, "{")) {
		const char *end = span_find(s, "}");
		uint64_t times = 1;
		if (!end)
			break;
		const struct span shape = until(from(s, s.p + 1), end);
		s = from(s, end + 1);
		if (span_starts(s, " * ") && (span_u64_prefix(from(s, s.p + 3), &times) < 0 || times > COUNT_MOST))
			break;
		shape_parse(shape, (double)times, &d->all);
		d->bundles += times;
		s = span_after(s, ", ");
		if (!s.p)
			return;
	}
	d->all.cut = true;
}

/* " {'slot': 1.0}: 2+ pending tasks/actors (1+ using placement groups)" */
static bool demand_parse(struct span line, struct rayplaces_demand *ret)
{
	struct rayplaces_demand d = {.count = 0};
	line = span_trim(line);
	const char *at = span_rfind(line, "}: "), *group = span_rfind(line, "): ");
	at = group && (!at || group > at) ? group : at;
	if (!at || span_u64_prefix(from(line, at + 3), &d.count) < 0)
		return false;
	const struct span shape = until(line, at + 1), rest = from(line, at + 3);
	d.group = span_has(rest, "+ pending placement groups");
	d.in_group = span_has(rest, "using placement groups");
	d.apart = d.group && span_has(shape, "(STRICT_SPREAD)");
	if (!d.group && !span_has(rest, "+ pending tasks/actors"))
		return false;
	span_copy(shape, d.text, sizeof(d.text));
	bundles_parse(shape, &d);
	*ret = d;
	return true;
}

/* What follows the line that is key; no p: there is none. */
static struct span lines_after(struct span status, const char *key)
{
	struct span line;
	while (span_line(&status, &line))
		if (span_eq(line, key))
			return status;
	return (struct span){NULL, 0};
}

/* " 1 node_4d77…" or " 2 worker", a line each. False: one is not understood. */
static bool nodes_parse(struct span lines, uint64_t *n)
{
	struct span line;
	uint64_t count;
	while (span_line(&lines, &line) && span_starts(line, " ")) {
		if (span_starts(line, " (no "))
			continue;
		if (span_u64_prefix(span_trim(line), &count) < 0 || count > COUNT_MOST)
			return false;
		*n += count;
	}
	return true;
}

/* The lines of a status that say what waits, without the last one's end. */
static struct span demands_of(struct span status)
{
	const struct span lines = lines_after(status, "Pending Demands:");
	struct span rest = lines, line;
	size_t len = 0;
	while (lines.p && span_line(&rest, &line) && span_starts(line, " "))
		len = (size_t)(line.p + line.len - lines.p);
	return (struct span){lines.p, len};
}

/* Not one that is being written. */
static bool is_whole(struct span status)
{
	const struct span d = demands_of(status);
	return d.p && d.len > 0 && d.p + d.len < status.p + status.len;
}

static void status_fill(struct span status, struct rayplaces *p)
{
	struct span rest = demands_of(status), line;
	const struct span active = lines_after(status, "Active:"), idle = lines_after(status, "Idle:");
	p->nodes = 0;
	p->n_demands = 0;
	p->demands_cut = !active.p || !nodes_parse(active, &p->nodes) || (idle.p && !nodes_parse(idle, &p->nodes));
	p->changes = !span_starts(lines_after(status, "Pending:"), " (no pending nodes)") ||
		     !span_starts(lines_after(status, "Recent failures:"), " (no failures)");
	while (span_line(&rest, &line)) {
		if (span_starts(line, " (no "))
			continue;
		if (p->n_demands == RAYPLACES_DEMANDS || !demand_parse(line, &p->demand[p->n_demands]))
			p->demands_cut = true;
		else
			p->n_demands++;
	}
}

/* "StandardAutoscaler: {… 'provider': {'type': 'readonly', …": it shows the nodes that there are, and starts none. */
static bool scales(struct span head)
{
	const struct span settings = span_before(span_after(head, " StandardAutoscaler: {"), "\n");
	return !settings.p || !span_has(settings, "'provider': {'type': 'readonly'");
}

bool rayplaces_status_parse(struct span head, struct span tail, struct rayplaces *ret)
{
	static const char begin[] = "======== Autoscaler status: ";
	struct span last = {NULL, 0}, demands = {NULL, 0};
	const char *at;
	uint32_t n = 0;
	for (struct span rest = tail; (at = span_rfind(rest, begin)) != NULL; rest = until(rest, at)) {
		const struct span status = from(rest, at), d = demands_of(status);
		if (!last.p && !is_whole(status))
			continue;
		if (!last.p) {
			last = status;
			demands = d;
		}
		if (d.len != demands.len || memcmp(d.p, demands.p, d.len) != 0)
			break;
		n++;
	}
	if (!last.p)
		return false;
	status_fill(last, ret);
	ret->statuses = n;
	ret->changes |= scales(head);
	ret->has_status = true;
	return true;
}

/* ---- files ---- */

/* A part of at most cap bytes, of the file's beginning or its end. False: it cannot be read. */
static bool part_read(int fd, uint64_t at, char *text, size_t cap, struct span *ret)
{
	size_t len = 0;
	if (file_read_from(fd, at, text, cap, &len) < 0)
		return false;
	*ret = (struct span){text, len};
	return true;
}

static int64_t written_unix_ms(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

static void state_read(const struct foreign_place *at, char *text, struct rayplaces *p)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	struct span all;
	if (foreign_open(at, "debug_state.txt", &fd) != 0 || fstat(fd, &st) < 0 ||
	    !part_read(fd, 0, text, STATE_MOST, &all) || !rayplaces_state_parse(all, p))
		return;
	p->state_unix_ms = written_unix_ms(&st);
}

static void status_read(const struct foreign_place *at, char *text, struct rayplaces *p)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	struct span head, tail;
	if (foreign_open(at, "monitor.log", &fd) != 0 || fstat(fd, &st) < 0)
		return;
	const uint64_t end = st.st_size > (off_t)TAIL_BYTES ? (uint64_t)st.st_size - TAIL_BYTES : 0;
	if (!part_read(fd, 0, text, HEAD_BYTES, &head) ||
	    !part_read(fd, end, text + HEAD_BYTES, TAIL_BYTES, &tail) || !rayplaces_status_parse(head, tail, p))
		return;
	p->status_unix_ms = written_unix_ms(&st);
}

int rayplaces_read(const struct raylogs *l, struct rayplaces *ret)
{
	_Static_assert(HEAD_BYTES + TAIL_BYTES <= STATE_MOST, "one buffer is for both files");
	cleanup(freep) char *text = malloc(STATE_MOST);
	const struct foreign_place at = {.dirfd = l->fd, .as = &l->user};
	if (!text)
		return -ENOMEM;
	memset(ret, 0, sizeof(*ret));
	state_read(&at, text, ret);
	status_read(&at, text, ret);
	return ret->has_state || ret->has_status ? 0 : WORLD_ABSENT;
}

bool rayplaces_folder(struct span path, char *dst, size_t cap)
{
	static const char end[] = "/raylet.out";
	const char *at = span_rfind(path, end);
	if (!at || path.p[0] != '/' || from(path, at).len != sizeof(end) - 1 || (size_t)(at - path.p) >= cap)
		return false;
	span_copy(until(path, at), dst, cap);
	return true;
}
