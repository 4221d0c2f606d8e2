#include "agent/gpu/gpus.h"

#include <string.h>

#include "agent/gpu/gpuholders.h"
#include "base/buf.h"
#include "base/foreign_path.h"
#include "sense/gpu/gpupid.h"
#include "sense/lockwait.h"
#include "sense/log/kmsg.h"

#define TASKS_CAP 65536
#define KMSG_RECORDS 100000

static const struct gpu_backend *const backends[] = {&gpu_backend_nvml, &gpu_backend_dcmi, &gpu_backend_files};

static void probes_ask(const struct world *w, struct gpuprobe_limits limits, struct gpu_set *set)
{
	struct gpuprobe probe[ARRAY_SIZE(backends)];
	bool asked[ARRAY_SIZE(backends)];
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		gpuprobe_init(&probe[i], backends[i], w, limits);
		int r = gpuprobe_ask(&probe[i]);
		asked[i] = r == 0;
		if (r)
			gpu_finding_add(set, GPU_FAILED, "fork", "", "%s cannot be asked: %s", backends[i]->name,
					strerror(-r));
	}
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		if (asked[i])
			gpuprobe_collect(&probe[i], set);
		gpuprobe_stop(&probe[i]);
	}
}

struct log_reading {
	struct xids xids;
	int64_t offset_ms;
};

static void log_record(const struct kmsg_record *r, void *data)
{
	struct log_reading *l = data;
	struct xid one;
	char plain[1024];
	if (r->facility != 0)
		return;
	size_t n = kmsg_unescape(r->text, plain, sizeof(plain));
	if (!xid_parse((struct span){plain, n}, &one))
		return;
	one.time_unix_ms = kmsg_unix_ms(r, l->offset_ms);
	xids_add(&l->xids, &one);
}

static void xids_read(const struct world *w, struct gpuview *v)
{
	struct log_reading l = {.xids = {.out = v->xid, .cap = GPUVIEW_XIDS}, .offset_ms = kmsg_unix_offset_ms(w)};
	cleanup(freep) struct kmsg *k = malloc(sizeof(*k));
	size_t n = 0;
	if (!k)
		return;
	int r = kmsg_open(w, KMSG_FROM_START, k);
	if (r == 0) {
		r = kmsg_drain(k, KMSG_RECORDS, log_record, &l, &n);
		kmsg_close(k);
	}
	v->kernel_log_denied = r != 0;
	v->n_xids = l.xids.n;
	v->n_xids_dropped = l.xids.n_dropped;
	xid_group(v->xid, v->n_xids);
}

static void who_fill(struct gpuview *v, const struct members *m)
{
	for (uint32_t i = 0; i < v->set.n; i++) {
		for (uint32_t k = 0; k < v->set.gpu[i].n_processes; k++) {
			const struct gpu_process *p = &v->set.gpu[i].process[k];
			const struct member *one = p->pid ? member_find(m, p->pid) : NULL;
			struct gpu_who *who = &v->who[i][k];
			if (!one)
				continue;
			who->known = true;
			who->who = one->who;
			who->has_role = one->job[0] || one->who.rank != NO_RANK;
			TEXT_COPY(who->job, one->job);
			TEXT_COPY(who->command, one->command[0] ? one->command : one->task->comm);
		}
	}
}

/* Keeps the devices that the job uses, with all their processes: memory of other processes matters there. */
static void devices_keep(struct gpuview *v)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < v->set.n; i++) {
		bool wanted = false;
		for (uint32_t k = 0; k < v->set.gpu[i].n_processes; k++)
			wanted = wanted || v->who[i][k].known;
		if (!wanted)
			continue;
		if (n != i) {
			v->set.gpu[n] = v->set.gpu[i];
			memcpy(v->who[n], v->who[i], sizeof(v->who[n]));
		}
		n++;
	}
	v->not_used = v->set.n > 0 && n == 0;
	v->set.n = n;
}

/* A forked worker inherits its parent's open devices, so they say nothing about the worker. */
static bool may_hold(const struct member *m)
{
	return !role_serves(m->who.role) && m->who.role != ROLE_COMPILER;
}

/* Where a driver does not name the processes of a device: adds those that have it open. */
static void holders_add(const struct world *w, const struct members *m, bool pids_foreign, struct gpu_set *set)
{
	uint32_t unsettled = gpuclaim_unsettled(set, pids_foreign);
	static struct gpuholder one; /* large */
	for (size_t i = 0; unsettled && i < m->n; i++) {
		pid_t pid = m->row[i].task->pid;
		struct gpuclaim_rank rank = {.pids = &pid, .n = 1};
		if (!may_hold(&m->row[i]))
			continue;
		gpuholders_read(NULL, w, &pid, 1, &rank, &one);
		struct gpuclaim c = gpuclaim_of(set, unsettled, &rank);
		for (uint32_t k = 0; c.by != GPU_BY_DRIVER && k < set->n; k++)
			if (c.devices >> k & unsettled >> k & 1)
				ignore(gpu_process_found(&set->gpu[k], pid, c.by), "one too many is counted");
	}
}

/* Of those that were asked, the processes on no device that is shown are nothing to tell of. */
static void shown_mark(const struct gpuview *v, const struct tasks *t)
{
	for (size_t i = 0; i < t->n; i++)
		lockwait_shown(t->rows[i].pid, false);
	for (uint32_t i = 0; i < v->set.n; i++)
		for (uint32_t k = 0; k < v->set.gpu[i].n_processes; k++)
			lockwait_shown(v->set.gpu[i].process[k].pid, true);
}

static int processes_join(const struct world *w, const struct gpus_want *want, struct gpuview *v)
{
	struct tasks t;
	struct members m = {.n = 0};
	int r = tasks_init(&t, TASKS_CAP, -1);
	if (r)
		return r;
	r = tasks_scan(&t, w);
	if (r == 0 && gpuclaim_unsettled(&v->set, v->pids_foreign)) {
		r = members_read(w, &t, NULL, &m);
		if (r == 0)
			holders_add(w, &m, v->pids_foreign, &v->set);
		members_done(&m);
	}
	if (r == 0)
		r = members_read(w, &t, want->members, &m);
	if (r == 0) {
		who_fill(v, &m);
		members_done(&m);
		if (want->members) {
			/* processes of other jobs on these devices get their names, too */
			devices_keep(v);
			r = members_read(w, &t, NULL, &m);
			if (r == 0) {
				who_fill(v, &m);
				members_done(&m);
			}
		}
		shown_mark(v, &t);
	}
	tasks_done(&t);
	return r;
}

int gpus_gather(const struct world *w, const struct gpus_want *want, struct gpuview *ret, struct fault *f)
{
	if (gethostname(ret->node, sizeof(ret->node) - 1) != 0)
		TEXT_COPY(ret->node, "this node");
	TEXT_COPY(ret->subject, want->subject);
	/* whoever looks is told here that a user's library is refused: nobody reads what the probes say */
	(void)foreign_path_variable("VIGIL_NVML_PATH");
	(void)foreign_path_variable("VIGIL_DCMI_PATH");
	probes_ask(w, (struct gpuprobe_limits){want->call_ns, 2 * want->call_ns}, &ret->set);
	ret->pids_foreign = gpupid_fill(w, &ret->set);
	xids_read(w, ret);
	int r = processes_join(w, want, ret);
	return r ? fault_set(f, r < 0 ? r : -ENOENT, "cannot list the processes: %s", r < 0 ? strerror(-r) : "no /proc")
		 : 0;
}

#define MEMORY_NS NS_PER_S
#define CARDS_ASKED 16

/* The first card may have another number: that of a screen of the firmware's is gone once the driver has come. */
static bool any_card(const struct world *w)
{
	char path[40];
	bool any = false;
	for (int i = 0; i < CARDS_ASKED && !any; i++) {
		TEXT_FORMAT(path, "class/drm/card%d", i);
		any = faccessat(w->sys_fd, path, F_OK, 0) == 0;
	}
	return any;
}

/*
 * A path of a library in the environment counts as a device file: the user wants it loaded. NVML makes the files of a
 * driver that is loaded and was not used yet; Windows' subsystem for Linux has another one.
 */
static bool device_is_here(const struct gpu_backend *b, const struct world *w)
{
	if (b == &gpu_backend_nvml)
		return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
		       faccessat(w->proc_fd, "driver/nvidia", F_OK, 0) == 0 || foreign_path_variable("VIGIL_NVML_PATH");
	if (b == &gpu_backend_dcmi)
		return access("/dev/davinci_manager", F_OK) == 0 || foreign_path_variable("VIGIL_DCMI_PATH");
	return w->sys_fd >= 0 && any_card(w);
}

bool gpus_are_here(const struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++)
		if (device_is_here(backends[i], w))
			return true;
	return false;
}

size_t gpus_probes_init(const struct world *w, struct gpuprobe_limits limits, struct gpuprobe *ret, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(backends) && n < cap; i++)
		if (device_is_here(backends[i], w))
			gpuprobe_init(&ret[n++], backends[i], w, limits);
	return n;
}

void gpus_memory_ask(const struct world *w, struct gpus_memory *ret)
{
	_Static_assert(ARRAY_SIZE(backends) == GPUS_BACKENDS, "one probe each");
	ret->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		if (!device_is_here(backends[i], w))
			continue;
		struct gpuprobe *p = &ret->probe[ret->n];
		gpuprobe_init(p, backends[i], w, (struct gpuprobe_limits){MEMORY_NS, MEMORY_NS});
		if (gpuprobe_ask(p) == 0)
			ret->n++;
		else
			gpuprobe_stop(p);
	}
}

static void memory_add(const struct gpu_set *set, struct footprint_row *row)
{
	for (uint32_t i = 0; i < set->n; i++) {
		for (uint32_t k = 0; k < set->gpu[i].n_processes; k++) {
			const struct gpu_process *p = &set->gpu[i].process[k];
			if (p->pid != row->pid || !p->has_memory)
				continue;
			row->has_gpu = true;
			row->gpu_bytes = add_cap(row->gpu_bytes, p->memory_bytes);
		}
	}
}

void gpus_memory_put(const struct gpu_set *set, struct footprint_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memory_add(set, &rows[i]);
}

void gpus_memory_collect(struct gpus_memory *m, const struct world *w, struct footprint_row *rows, size_t n)
{
	cleanup(freep) struct gpu_set *set = m->n ? calloc(1, sizeof(*set)) : NULL;
	for (size_t i = 0; i < m->n; i++) {
		if (set)
			gpuprobe_collect(&m->probe[i], set);
		gpuprobe_stop(&m->probe[i]);
	}
	m->n = 0;
	if (!set)
		return;
	ignore(gpupid_fill(w, set), "processes of other namespaces have pid 0");
	gpus_memory_put(set, rows, n);
}
