#include "tell/gpu/gpu_show.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "tell/text/textout.h"

static void value_json(struct js *j, const struct gpu_sample *g, enum gpu_value v)
{
	const struct gpu_value_name *n = gpu_value_name(v);
	if (!gpu_has(g, v))
		return;
	if (n->ratio)
		js_put_double(j, n->name, (double)g->value[v] / 100);
	else if (n->flag)
		js_put_bool(j, n->name, g->value[v] != 0);
	else
		js_put_u64(j, n->name, g->value[v]);
}

static struct js *gpu_show_process_json(const struct gpu_process *p, const struct gpu_who *w)
{
	struct js *j = js_object();
	if (p->pid)
		js_put_i64(j, "pid", p->pid);
	if (p->driver_pid)
		js_put_i64(j, "driver_pid", p->driver_pid);
	js_put_text(j, "by", gpu_by_name(p->by));
	js_put_text_if(j, "job", w->job);
	if (w->known && w->who.rank != NO_RANK)
		js_put_i64(j, "rank", w->who.rank);
	if (w->has_role)
		js_put_text(j, "role", role_name(w->who.role));
	if (p->has_memory)
		js_put_u64(j, "memory_bytes", p->memory_bytes);
	if (p->has_sm) {
		js_put_double(j, "sm_ratio", (double)p->sm_percent / 100);
		js_put_double(j, "memory_busy_ratio", (double)p->memory_percent / 100);
	}
	if (p->has_busy_ns)
		js_put_u64(j, "engines_busy_ns", p->busy_ns);
	if (p->has_instance)
		js_put_u64(j, "instance", p->instance);
	js_put_text_if(j, "command", w->command);
	return j;
}

static struct js *device_json(const struct gpuview *v, uint32_t i)
{
	const struct gpu_sample *g = &v->set.gpu[i];
	struct js *j = js_object(), *reasons = js_array(), *processes = js_array();
	js_put_text(j, "vendor", gpu_vendor_name(g->vendor));
	js_put_u64(j, "index", g->index);
	js_put_text_if(j, "name", g->name);
	js_put_text_if(j, "uuid", g->uuid);
	js_put_text_if(j, "pci", g->pci);
	js_put_bool(j, "lost", g->lost);
	for (int k = 0; k < GPU_VALUES; k++)
		value_json(j, g, (enum gpu_value)k);
	if (gpu_has(g, GPU_REASONS)) {
		for (uint32_t bit = 1; bit; bit <<= 1)
			if (g->value[GPU_REASONS] & bit && gpu_reason_name(bit))
				js_add_text(reasons, gpu_reason_name(bit));
		js_put(j, "clock_reasons", reasons);
	} else {
		js_free(reasons);
	}
	if (gpu_has(g, GPU_RECOVERY))
		js_put_text(j, "recovery", gpu_recovery_name(g->value[GPU_RECOVERY]));
	for (uint32_t k = 0; k < g->n_processes; k++)
		js_add(processes, gpu_show_process_json(&g->process[k], &v->who[i][k]));
	if (g->has_processes || g->n_processes)
		js_put(j, "processes", processes);
	else
		js_free(processes);
	if (g->n_processes_dropped)
		js_put_u64(j, "processes_dropped", g->n_processes_dropped);
	return j;
}

static struct js *finding_json(const struct gpu_finding *f)
{
	struct js *j = js_object();
	js_put_text(j, "kind", gpu_trouble_name(f->trouble));
	js_put_text_if(j, "uuid", f->uuid);
	js_put_text_if(j, "call", f->call);
	js_put_i64(j, "code", f->code);
	js_put_text(j, "text", f->text);
	return j;
}

static struct js *xid_json(const struct xid *x)
{
	struct js *j = js_object();
	js_put_u64(j, "number", x->number);
	js_put_bool(j, "switch", x->is_switch);
	js_put_text(j, "pci", x->pci);
	if (x->time_unix_ms)
		js_put_i64(j, "time_unix_ms", x->time_unix_ms);
	if (x->pid)
		js_put_i64(j, "pid", x->pid);
	js_put_text_if(j, "process", x->process);
	js_put_text_if(j, "text", x->text);
	js_put_u64(j, "incident", x->incident);
	js_put_bool(j, "cause", x->cause);
	js_put_text(j, "action", xid_action_name(xid_action(x)));
	if (xid_meaning(x))
		js_put_text(j, "meaning", xid_meaning(x));
	return j;
}

static struct js *event_json(const struct gpu_event *e)
{
	struct js *j = js_object();
	js_put_text_if(j, "uuid", e->uuid);
	js_put_i64(j, "time_unix_ms", e->time_unix_ms);
	js_put_u64(j, "type", e->type);
	js_put_u64(j, "data", e->data);
	return j;
}

static struct js *driver_json(const struct gpu_driver *d)
{
	static const char *const states[] = {"absent", "ready", "failed"};
	struct js *j = js_object();
	js_put_text(j, "name", d->name);
	js_put_text(j, "state", (size_t)d->state < ARRAY_SIZE(states) ? states[d->state] : "failed");
	js_put_text_if(j, "version", d->version);
	js_put_text_if(j, "text", d->text);
	return j;
}

struct js *gpu_list_json(const struct gpuview *v)
{
	struct js *gpus = js_array();
	for (uint32_t i = 0; i < v->set.n; i++)
		js_add(gpus, device_json(v, i));
	return gpus;
}

struct js *gpu_json(const struct gpuview *v)
{
	struct js *j = js_object(), *findings = js_array(), *xids = js_array();
	struct js *events = js_array(), *drivers = js_array();
	js_put_text(j, "schema", "vigil.gpu/1");
	js_put_text(j, "node", v->node);
	js_put_text_if(j, "subject", v->subject);
	js_put(j, "gpus", gpu_list_json(v));
	for (uint32_t i = 0; i < v->set.n_findings; i++)
		js_add(findings, finding_json(&v->set.finding[i]));
	js_put(j, "findings", findings);
	for (size_t i = 0; i < v->n_xids; i++)
		js_add(xids, xid_json(&v->xid[i]));
	js_put(j, "xids", xids);
	for (uint32_t i = 0; i < v->set.n_events; i++)
		js_add(events, event_json(&v->set.event[i]));
	js_put(j, "events", events);
	js_put_u64(j, "xids_dropped", v->n_xids_dropped);
	js_put_bool(j, "kernel_log_readable", !v->kernel_log_denied);
	js_put_bool(j, "pids_foreign", v->pids_foreign);
	for (uint32_t i = 0; i < v->set.n_drivers; i++)
		js_add(drivers, driver_json(&v->set.driver[i]));
	js_put(j, "drivers", drivers);
	return j;
}

/* "97 %", "-" */
static const char *gpu_show_number(const struct gpu_sample *g, enum gpu_value v, const char *unit, char dst[static 24])
{
	if (!gpu_has(g, v))
		return "-";
	(void)text_format(dst, 24, "%llu%s", (unsigned long long)g->value[v], unit);
	return dst;
}

static void memory_format(const struct gpu_sample *g, char *dst, size_t cap)
{
	char used[16], total[16];
	if (gpu_has(g, GPU_MEMORY_TOTAL) && gpu_has(g, GPU_MEMORY_USED))
		text_format(dst, cap, "%s of %s", size_format(g->value[GPU_MEMORY_USED], used),
			    size_format(g->value[GPU_MEMORY_TOTAL], total));
	else
		text_copy(dst, cap, "-");
}

static void power_format(const struct gpu_sample *g, char *dst, size_t cap)
{
	text_copy(dst, cap, "-");
	if (gpu_has(g, GPU_POWER) && gpu_has(g, GPU_POWER_LIMIT))
		text_format(dst, cap, "%llu/%llu W", (unsigned long long)(g->value[GPU_POWER] / 1000),
			    (unsigned long long)(g->value[GPU_POWER_LIMIT] / 1000));
	else if (gpu_has(g, GPU_POWER))
		text_format(dst, cap, "%llu W", (unsigned long long)(g->value[GPU_POWER] / 1000));
}

static void clock_format(const struct gpu_sample *g, char *dst, size_t cap)
{
	text_copy(dst, cap, "-");
	if (gpu_has(g, GPU_SM_CLOCK) && gpu_has(g, GPU_SM_CLOCK_MAX))
		text_format(dst, cap, "%llu/%llu MHz", (unsigned long long)g->value[GPU_SM_CLOCK],
			    (unsigned long long)g->value[GPU_SM_CLOCK_MAX]);
	else if (gpu_has(g, GPU_SM_CLOCK))
		text_format(dst, cap, "%llu MHz", (unsigned long long)g->value[GPU_SM_CLOCK]);
}

static void reasons_format(const struct gpu_sample *g, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (uint32_t bit = 1; bit && gpu_has(g, GPU_REASONS); bit <<= 1)
		if (g->value[GPU_REASONS] & bit && gpu_reason_name(bit))
			buf_printf(&b, "%s%s", b.len ? ", " : "", gpu_reason_name(bit));
	if (b.len == 0)
		buf_add(&b, gpu_has(g, GPU_REASONS) ? "nothing" : "-");
}

/* States of a device that ask for action; nothing is written for a healthy one. */
static void health_text(const struct textout *p, const struct gpu_sample *g)
{
	char text[400];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (g->lost)
		buf_add(&b, "; not asked: the driver gave it up");
	if (gpu_has(g, GPU_RECOVERY) && g->value[GPU_RECOVERY])
		buf_printf(&b, "; the driver wants: %s", gpu_recovery_name(g->value[GPU_RECOVERY]));
	if (gpu_has(g, GPU_ECC_UNCORRECTED) && g->value[GPU_ECC_UNCORRECTED])
		buf_printf(&b, "; %llu uncorrected memory errors", (unsigned long long)g->value[GPU_ECC_UNCORRECTED]);
	if (gpu_has(g, GPU_ROWS_PENDING) && g->value[GPU_ROWS_PENDING])
		buf_add(&b, "; a memory row waits for a reset to be replaced");
	if (gpu_has(g, GPU_ROWS_FAILED) && g->value[GPU_ROWS_FAILED])
		buf_add(&b, "; a memory row could not be replaced");
	if (gpu_has(g, GPU_PCIE_WIDTH) && gpu_has(g, GPU_PCIE_WIDTH_MAX) &&
	    g->value[GPU_PCIE_WIDTH] < g->value[GPU_PCIE_WIDTH_MAX])
		buf_printf(&b, "; PCIe has %llu of %llu lanes", (unsigned long long)g->value[GPU_PCIE_WIDTH],
			   (unsigned long long)g->value[GPU_PCIE_WIDTH_MAX]);
	if (gpu_has(g, GPU_HEALTH) && g->value[GPU_HEALTH])
		buf_printf(&b, "; health alarm of level %llu", (unsigned long long)g->value[GPU_HEALTH]);
	if (gpu_has(g, GPU_MIG) && g->value[GPU_MIG])
		buf_add(&b, "; divided (MIG): the driver counts no use of it");
	if (b.len == 0)
		return;
	fputs("       ", p->to);
	textout_ink(p, INK_YELLOW);
	textout_text(p, 7, "%s", text + 2);
	textout_ink(p, INK_PLAIN);
}

static void process_text(const struct textout *p, const struct gpu_process *one, const struct gpu_who *w)
{
	char memory[16], what[96] = "";
	struct buf b = BUF_ON(what);
	buf_reset(&b);
	if (w->job[0])
		buf_printf(&b, "job %s ", w->job);
	if (w->known && w->who.rank != NO_RANK)
		buf_printf(&b, "rank %d ", w->who.rank);
	if (w->has_role)
		buf_add(&b, role_name(w->who.role));
	static const char *const by[GPU_BYS] = {[GPU_BY_MAPPED] = "has it mapped  ",
						[GPU_BY_VISIBLE] = "has it open and visible  ",
						[GPU_BY_OPEN] = "has it open  "};
	fprintf(p->to, "       %s %-8d %10s  ", one->pid ? "pid" : "foreign pid",
		one->driver_pid ? one->driver_pid : one->pid,
		one->has_memory ? size_format(one->memory_bytes, memory) : "-");
	if (by[one->by])
		fputs(by[one->by], p->to);
	if (one->has_sm)
		fprintf(p->to, "SM %3u %%  ", one->sm_percent);
	textout_cut(p, what, 60);
	fputs(what[0] ? "  " : "", p->to);
	textout_cut(p, w->command, 60);
	fputc('\n', p->to);
}

static void device_text(const struct textout *p, const struct gpuview *v, uint32_t i)
{
	const struct gpu_sample *g = &v->set.gpu[i];
	char busy[24], memory_busy[24], memory[48], power[32], heat[24], clock[32], reasons[160];
	memory_format(g, memory, sizeof(memory));
	power_format(g, power, sizeof(power));
	clock_format(g, clock, sizeof(clock));
	reasons_format(g, reasons, sizeof(reasons));
	fprintf(p->to, "%3u  ", g->index);
	textout_cell(p, g->name[0] ? g->name : gpu_vendor_name(g->vendor), 24);
	fprintf(p->to, " %6s %7s  %-24s %-12s %5s  %-14s  %s\n", gpu_show_number(g, GPU_BUSY, " %", busy),
		gpu_show_number(g, GPU_MEMORY_BUSY, " %", memory_busy), memory, power,
		gpu_show_number(g, GPU_TEMPERATURE, " C", heat),
		clock, reasons);
	health_text(p, g);
	for (uint32_t k = 0; k < g->n_processes; k++)
		process_text(p, &g->process[k], &v->who[i][k]);
	if (g->n_processes_dropped)
		fprintf(p->to, "       and %u more processes\n", g->n_processes_dropped);
	if (!g->has_processes && !g->lost)
		fputs("       the driver does not tell whose processes are on it\n", p->to);
}

static void none_text(const struct textout *p, const struct gpuview *v)
{
	fputs(v->set.n_findings ? "No GPU could be read here. What was looked at:\n"
				: "No GPU here. What was looked at:\n",
	      p->to);
	for (uint32_t i = 0; i < v->set.n_drivers; i++)
		textout_value(p, v->set.driver[i].name, "%s", v->set.driver[i].text);
	if (v->kernel_log_denied)
		textout_value(p, "kernel log", "not readable, so there may have been Xids");
	else
		textout_value(p, "kernel log", "%zu Xids", v->n_xids);
}

static void xids_text_show(const struct textout *p, const struct gpuview *v)
{
	if (v->n_xids == 0)
		return;
	textout_heading(p, "errors in the kernel log");
	for (size_t i = 0; i < v->n_xids; i++) {
		const struct xid *x = &v->xid[i];
		char when[24];
		if (!x->cause)
			continue;
		size_t more = 0;
		for (size_t k = 0; k < v->n_xids; k++)
			more += k != i && v->xid[k].incident == x->incident ? 1 : 0;
		fprintf(p->to, "  %s  %s %s %u", x->time_unix_ms ? time_format(x->time_unix_ms, when) : "-", x->pci,
			x->is_switch ? "SXid" : "Xid", x->number);
		if (x->pid)
			fprintf(p->to, ", pid %d", x->pid);
		if (more)
			fprintf(p->to, ", %zu more line%s of the same incident", more, more == 1 ? "" : "s");
		fputs("\n      ", p->to);
		textout_text(p, 6, "%s", xid_meaning(x) ? xid_meaning(x) : x->text[0] ? x->text : "not in our table");
	}
	if (v->n_xids_dropped)
		fprintf(p->to, "  and %zu older ones\n", v->n_xids_dropped);
}

static void heading_text(const struct textout *p, const struct gpuview *v)
{
	fprintf(p->to, "GPUs of %s%s%s", v->subject, v->subject[0] ? " on " : "", v->node);
	for (uint32_t i = 0; i < v->set.n_drivers; i++)
		if (v->set.driver[i].state == GPU_DRIVER_READY && v->set.driver[i].version[0]) {
			fputs(" (", p->to);
			textout_cut(p, v->set.driver[i].name, 24);
			fputc(' ', p->to);
			textout_cut(p, v->set.driver[i].version, 80);
			fputc(')', p->to);
		}
	fputs("\n\n", p->to);
	textout_ink(p, INK_DIM);
	fprintf(p->to, "%3s  %-24s %6s %7s  %-24s %-12s %5s  %-14s  %s\n", "GPU", "NAME", "BUSY", "MEMBUSY", "MEMORY",
		"POWER", "TEMP", "SM CLOCK", "CLOCKS HELD BY");
	textout_ink(p, INK_PLAIN);
}

void gpu_text(const struct gpuview *v, bool colour, FILE *to)
{
	struct textout p = {.to = to, .colour = colour, .width = textout_width(to)};
	if (v->not_used) {
		textout_text(&p, 0, "%s uses no GPU of this node, as far as the drivers tell.", v->subject);
	} else if (v->set.n == 0) {
		none_text(&p, v);
	} else {
		heading_text(&p, v);
		for (uint32_t i = 0; i < v->set.n; i++)
			device_text(&p, v, i);
		if (v->set.n_dropped)
			fprintf(to, "and %u more devices\n", v->set.n_dropped);
		if (v->pids_foreign)
			textout_text(&p, 0,
				     "vigil runs in a container: most drivers tell the host's process numbers. Those "
				     "marked foreign could not be brought together with a process here; instead, who "
				     "has a device's file mapped or open is shown. CUDA opens devices that it does not "
				     "use, too.");
	}
	if (v->set.n_findings)
		textout_heading(&p, "findings");
	for (uint32_t i = 0; i < v->set.n_findings; i++) {
		fputs("  ", to);
		textout_text(&p, 2, "%s", v->set.finding[i].text);
	}
	xids_text_show(&p, v);
}
