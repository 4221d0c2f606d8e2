#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/units.h"

/* At most so often. */
static const uint64_t draw_ns = 200 * NS_PER_MS;
#define CLEAR "\r\033[K"

void map_bar_clear(struct map *m)
{
	if (m->bar.drawn)
		ignore(write(STDERR_FILENO, CLEAR, sizeof(CLEAR) - 1), "nothing is lost with it");
	m->bar.drawn = false;
}

/* A message takes the place of the bar, which is drawn again below it. */
static void message(void *ctx, const char *text, size_t len)
{
	map_bar_clear(ctx);
	ignore(file_write_all(STDERR_FILENO, text, len), "there is nowhere else to say it");
}

void map_bar_open(struct map *m)
{
	m->bar.on = (m->spec->bar || m->spec->eta) && isatty(STDERR_FILENO);
	m->bar.begun_ns = m->w->mono_ns();
	if (m->bar.on)
		log_set_sink(message, m);
}

void map_bar_close(struct map *m)
{
	map_bar_clear(m);
	if (m->bar.on)
		log_set_sink(NULL, NULL);
	m->bar.on = false;
}

/* The mean of what finished tasks took that ran for longer than this one until now, less that; below 0: none did. */
static double rest_of(const struct map *m, double ran_s)
{
	const size_t n = (size_t)MIN(m->n_times, (uint64_t)MAP_TIMES);
	double sum = 0;
	size_t longer = 0;
	for (size_t i = 0; i < n; i++)
		if (m->time_s[i] > ran_s) {
			sum += m->time_s[i];
			longer++;
		}
	return longer ? sum / (double)longer - ran_s : -1;
}

/* Once all that is left runs, the last of them ends it. False: one runs longer than all before it. */
static bool last_left(const struct map *m, uint64_t now_ns, double *ret_ns)
{
	double most = 0;
	for (uint32_t i = 0; i < m->n_runners; i++) {
		double rest = rest_of(m, (double)(now_ns - m->runner[i]->started_ns) / (double)NS_PER_S);
		if (rest < 0)
			return false;
		most = MAX(most, rest);
	}
	*ret_ns = most * (double)NS_PER_S;
	return true;
}

static void time_left(const struct map *m, uint64_t done, uint64_t now_ns, struct buf *b)
{
	char text[24];
	uint64_t left = sub_floor(m->total, m->skipped + done);
	if (done == 0 || left == 0)
		return;
	double ns = (double)(now_ns - m->bar.begun_ns) / (double)done * (double)left;
	if (left <= m->n_runners && !last_left(m, now_ns, &ns))
		return;
	buf_printf(b, ", %s left", duration_format((uint64_t)ns, text));
}

static void bar_text(const struct map *m, uint64_t now_ns, struct buf *b)
{
	char used[24], room[24];
	uint32_t suspended = 0;
	uint64_t done = m->tally.succeeded + m->tally.failed, all = m->skipped + done;
	for (uint32_t i = 0; i < m->n_runners; i++)
		suspended += m->runner[i]->suspended;
	if (m->total > 0)
		buf_printf(b, "%3llu%% ", (unsigned long long)(all * 100 / m->total));
	buf_printf(b, "%llu of %llu done, %u running", (unsigned long long)all, (unsigned long long)m->total,
		   m->n_runners - suspended);
	if (suspended)
		buf_printf(b, ", %u suspended", suspended);
	if (m->tally.failed)
		buf_printf(b, ", %llu failed", (unsigned long long)m->tally.failed);
	time_left(m, done, now_ns, b);
	buf_printf(b, ", %s of %s", size_format(m->memory.used_bytes, used), size_format(m->memory.room_bytes, room));
}

void map_bar_draw(struct map *m)
{
	char text[256];
	struct buf b = BUF_ON(text);
	struct winsize size;
	uint64_t now = m->w->mono_ns();
	if (!m->bar.on || now < m->bar.next_ns)
		return;
	m->bar.next_ns = now + draw_ns;
	buf_reset(&b);
	buf_add(&b, CLEAR);
	bar_text(m, now, &b);
	/* a line that wraps cannot be cleared */
	size_t most = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79;
	m->bar.drawn = write(STDERR_FILENO, text, MIN(b.len, most + sizeof(CLEAR) - 1)) > 0;
}

uint64_t map_bar_due_ns(const struct map *m)
{
	return m->bar.on && m->n_runners > 0 ? m->bar.next_ns : UINT64_MAX;
}
