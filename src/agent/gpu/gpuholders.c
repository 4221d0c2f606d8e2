#include "agent/gpu/gpuholders.h"

#include <string.h>

#include "base/buf.h"
#include "sense/proc/proc.h"

#define ENVIRON_MAX (128 * KIB)

static const uint64_t found_ns = 60 * NS_PER_S, nothing_ns = 10 * NS_PER_S;

static void visible_read(const struct world *w, struct gpuholder *h)
{
	cleanup(freep) char *text = malloc(ENVIRON_MAX);
	size_t len = 0;
	if (!text || proc_environ_read(w, h->pid, text, ENVIRON_MAX, &len) != 0)
		return;
	struct span block = {text, len}, value = environ_get(block, "CUDA_VISIBLE_DEVICES");
	if (!value.p || value.len >= sizeof(h->visible))
		return;
	h->has_visible = true;
	span_copy(value, h->visible, sizeof(h->visible));
	h->by_bus = span_eq(environ_get(block, "CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
}

static void holder_read(const struct world *w, pid_t pid, uint64_t now_ns, struct gpuholder *h)
{
	*h = (struct gpuholder){.pid = pid, .read_ns = now_ns};
	if (gpuheld_read(w, pid, &h->open) != 0 || gpuheld_count(&h->open) < 2)
		return; /* with one device the mappings and the environment add nothing */
	ignore(gpuheld_mapped(w, pid, &h->mapped), "then what is open counts");
	visible_read(w, h);
}

static const struct gpuholder *holder_of(struct gpuholders *h, const struct world *w, pid_t pid,
					 struct gpuholder *scratch)
{
	uint64_t now_ns = w->mono_ns();
	struct gpuholder *row = h ? &h->row[(size_t)pid % GPUHOLDERS_ROWS] : scratch;
	uint64_t fresh_ns = gpuheld_count(&row->open) ? found_ns : nothing_ns;
	if (!h || row->pid != pid || now_ns - row->read_ns >= fresh_ns)
		holder_read(w, pid, now_ns, row);
	return row;
}

void gpuholders_read(struct gpuholders *h, const struct world *w, const pid_t *pids, size_t n,
		     struct gpuclaim_rank *rank, struct gpuholder *scratch)
{
	for (size_t i = 0; i < n; i++) {
		const struct gpuholder *one = holder_of(h, w, pids[i], scratch);
		gpuheld_join(&rank->open, &one->open);
		gpuheld_join(&rank->mapped, &one->mapped);
		if (one->has_visible && !rank->has_visible) {
			rank->has_visible = true;
			rank->visible = span_of(one->visible);
			rank->by_bus = one->by_bus;
		}
	}
}
