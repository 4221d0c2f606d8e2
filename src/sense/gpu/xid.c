#include "sense/gpu/xid.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"

/* Sorted by number. */
static const struct {
	uint32_t number;
	enum xid_action action;
	const char *meaning;
} known[] = {
	{13, XID_APP, "a kernel raised an exception on the GPU (bad index or instruction): mostly the program's fault"},
	{31, XID_APP, "a kernel touched memory that is not mapped: mostly the program's fault"},
	{43, XID_APP, "the program's channel was stopped after an error of its own"},
	{45, XID_FOLLOWS, "work of a program was cleaned away: the consequence of its end or of another error"},
	{48, XID_GPU_RESET, "a memory error that could not be corrected (double bit)"},
	{61, XID_GPU_RESET, "the GPU's micro-controller halted"},
	{62, XID_GPU_RESET, "the GPU's micro-controller halted"},
	{63, XID_SERVICE, "a memory row or page is marked for replacement: reset when convenient"},
	{64, XID_NODE, "a memory row or page could not be replaced"},
	{69, XID_APP, "the graphics engine raised an exception: mostly the program's fault"},
	{74, XID_NODE, "an NVLink failed: look at the links and the other GPU"},
	{79, XID_NODE, "the GPU has fallen off the bus: reboot the node; look at power, temperature and the PCIe slot"},
	{92, XID_SERVICE, "many corrected memory errors"},
	{94, XID_APP, "an uncorrected memory error was contained: only the program that hit it dies"},
	{95, XID_GPU_RESET, "an uncorrected memory error could not be contained: every program on the GPU is hit"},
	{119, XID_GPU_RESET, "the GPU's system processor (GSP) did not answer the driver"},
	{120, XID_GPU_RESET, "the GPU's system processor (GSP) failed"},
	{121, XID_SERVICE, "an error on the link between CPU and GPU (C2C)"},
	{137, XID_APP, "a program touched another GPU's memory over NVLink without the right to"},
	{140, XID_GPU_RESET, "an uncorrected memory error"},
	{143, XID_GPU_RESET, "the GPU did not come up"},
	{154, XID_FOLLOWS, "the driver changed what it wants done to recover"},
};

static int known_at(const struct xid *x)
{
	for (size_t i = 0; !x->is_switch && i < ARRAY_SIZE(known); i++)
		if (known[i].number == x->number)
			return (int)i;
	return -1;
}

enum xid_action xid_action(const struct xid *x)
{
	int i = known_at(x);
	return i < 0 ? XID_UNKNOWN : known[i].action;
}

const char *xid_meaning(const struct xid *x)
{
	int i = known_at(x);
	return i < 0 ? NULL : known[i].meaning;
}

const char *xid_action_name(enum xid_action a)
{
	static const char *const names[] = {
		[XID_UNKNOWN] = "unknown", [XID_APP] = "restart_program", [XID_GPU_RESET] = "reset_gpu",
		[XID_NODE] = "node_out",   [XID_SERVICE] = "watch",	  [XID_FOLLOWS] = "follows",
	};
	return (size_t)a < ARRAY_SIZE(names) ? names[a] : "unknown";
}

static bool pci_good(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!memchr("0123456789abcdefABCDEF:.", s.p[i], 24))
			return false;
	return s.len > 0;
}

/* "pid=1896, name=python, …" or "pid='<unknown>', name=<unknown>, …" */
static void process_take(struct span *rest, struct xid *x)
{
	uint64_t pid;
	if (span_starts(*rest, "pid=")) {
		if (span_u64_prefix((struct span){rest->p + 4, rest->len - 4}, &pid) == 0 && pid > 0 && pid <= INT_MAX)
			x->pid = (pid_t)pid;
		struct span after = span_after(*rest, ",");
		*rest = after.p ? span_trim(after) : (struct span){rest->p + rest->len, 0};
	}
	if (span_starts(*rest, "name=")) {
		struct span name = span_before((struct span){rest->p + 5, rest->len - 5}, ",");
		if (!span_has(name, "<unknown>"))
			span_copy(span_trim(name), x->process, sizeof(x->process));
		struct span after = span_after(*rest, ",");
		*rest = after.p ? span_trim(after) : (struct span){rest->p + rest->len, 0};
	}
}

/*
 * "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, …", "NVRM: Xid (0000:03:00): 32, Channel …",
 * "nvidia-nvswitch3: SXid (PCI:…): …"
 */
bool xid_parse(struct span text, struct xid *ret)
{
	struct xid x = {.number = 0};
	struct span at = {NULL, 0};
	text = span_trim(text);
	if (span_starts(text, "NVRM: Xid ("))
		at = span_after(text, "NVRM: Xid (");
	else if (span_starts(text, "nvidia-nvswitch") && span_has(span_before(text, "("), ": SXid ")) {
		at = span_after(text, "SXid (");
		x.is_switch = true;
	}
	if (!at.p)
		return false;
	struct span pci = span_before(at, "):"), rest = span_after(at, "):");
	if (span_starts(pci, "PCI:"))
		pci = (struct span){pci.p + 4, pci.len - 4};
	uint64_t number;
	if (!rest.p || !pci_good(pci) || pci.len >= sizeof(x.pci))
		return false;
	rest = span_trim(rest);
	if (span_u64_prefix(rest, &number) < 0 || number == 0 || number > UINT32_MAX)
		return false;
	x.number = (uint32_t)number;
	span_copy(pci, x.pci, sizeof(x.pci));
	struct span after = span_after(rest, ",");
	rest = after.p ? span_trim(after) : (struct span){rest.p + rest.len, 0};
	process_take(&rest, &x);
	span_copy(rest, x.text, sizeof(x.text));
	*ret = x;
	return true;
}

void xids_add(struct xids *x, const struct xid *one)
{
	if (x->cap == 0) {
		x->n_dropped++;
		return;
	}
	if (x->n == x->cap) {
		memmove(x->out, x->out + 1, (x->cap - 1) * sizeof(*x->out));
		x->n--;
		x->n_dropped++;
	}
	x->out[x->n++] = *one;
}

static bool same_device(const struct xid *a, const struct xid *b)
{
	return a->is_switch == b->is_switch && strcmp(a->pci, b->pci) == 0;
}

static bool of_program(const struct xid *x)
{
	return x->pid != 0 && (xid_action(x) == XID_APP || xid_action(x) == XID_FOLLOWS);
}

/* True if what b tells may belong to a's incident: the device's own errors hit all, a program's fault only itself. */
static bool may_share(const struct xid *a, const struct xid *b)
{
	return !of_program(a) || !of_program(b) || a->pid == b->pid || xid_action(a) == XID_FOLLOWS;
}

/*
 * The error before x[i] whose incident goes on with it; i: none. Errors that have no times count as close to each
 * other, because nothing separates them.
 */
static size_t goes_on_from(const struct xid *x, size_t i)
{
	int64_t last_ms = x[i].time_unix_ms;
	size_t found = i;
	for (size_t k = i; k-- > 0;) {
		if (!same_device(&x[k], &x[i]))
			continue;
		if (last_ms - x[k].time_unix_ms > XID_GAP_MS)
			break;
		last_ms = x[k].time_unix_ms;
		if (found == i && may_share(&x[k], &x[i]))
			found = k;
		if (xid_action(&x[k]) != XID_APP && xid_action(&x[k]) != XID_FOLLOWS)
			return found == i ? k : found;
	}
	return found;
}

void xid_group(struct xid *x, size_t n)
{
	uint32_t incidents = 0;
	for (size_t i = 0; i < n; i++) {
		size_t before = goes_on_from(x, i);
		x[i].incident = before < i ? x[before].incident : ++incidents;
		x[i].cause = false;
	}
	for (uint32_t k = 1; k <= incidents; k++) {
		struct xid *cause = NULL;
		for (size_t i = 0; i < n; i++)
			if (x[i].incident == k &&
			    (!cause || (xid_action(cause) == XID_FOLLOWS && xid_action(&x[i]) != XID_FOLLOWS)))
				cause = &x[i];
		if (cause)
			cause->cause = true;
	}
}
