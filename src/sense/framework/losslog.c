#include "sense/framework/losslog.h"

#include "base/buf.h"
#include "sense/framework/lossline.h"
#include "sense/framework/progress.h"
#include "sense/log/logline.h"

#define LONGEST 2000 /* bytes of a line of progress */

static bool losslog_line(struct span *rest, struct span *ret)
{
	size_t n = 0;
	if (rest->len == 0)
		return false;
	while (n < rest->len && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	*ret = (struct span){rest->p, n};
	*rest = (struct span){rest->p + n, rest->len - n};
	if (rest->len > 0)
		*rest = (struct span){rest->p + 1, rest->len - 1};
	return true;
}

/* "the loss was NaN at step 10": an earlier line may not have been read. */
static void losslog_words_put(struct log_hint *h, bool infinite, bool has_step, uint64_t step)
{
	struct buf b = BUF_ON(h->text);
	buf_printf(&b, "the loss was %s", infinite ? "infinite" : "NaN");
	if (has_step)
		buf_printf(&b, " at step %llu", (unsigned long long)step);
}

bool losslog_parse(struct span tail, const char *source, int32_t rank, struct log_hint *ret)
{
	struct log_hint h = {.rank = rank};
	bool broken = false, has_step = false;
	uint64_t step = 0;
	char name[40] = ""; /* of the loss that broke, as its line has it */
	TEXT_COPY(h.id, "loss_broken");
	TEXT_COPY(h.source, source);
	for (struct span line; losslog_line(&tail, &line);) {
		struct logline text;
		struct lossline loss;
		struct progress_line p;
		if (line.len > LONGEST)
			continue;
		logline_parse(line, &text);
		lossline_read(text.text, &loss);
		const bool progress = progress_parse(line, NULL, &p) == 0;
		if (progress && p.has_step) {
			has_step = true;
			step = p.step;
		}
		if (loss.loss && !broken) {
			broken = true;
			losslog_words_put(&h, loss.infinite, has_step, step);
			TEXT_COPY(name, loss.name);
		} else if (!loss.loss && progress && span_has(text.text, name)) {
			broken = false;
		}
	}
	if (broken)
		*ret = h;
	return broken;
}
