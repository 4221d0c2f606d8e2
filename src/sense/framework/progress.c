#include "sense/framework/progress.h"

#include <math.h>
#include <string.h>

#include "sense/framework/lossline.h"

static bool letter(char c)
{
	return char_letter(c) || c == '_';
}

static char progress_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static struct span from(struct span s, size_t at)
{
	at = MIN(at, s.len);
	return (struct span){s.p + at, s.len - at};
}

static struct span skip(struct span s, const char *set)
{
	while (s.len > 0 && s.p[0] != '\0' && strchr(set, s.p[0]))
		s = from(s, 1);
	return s;
}

/* A whole number at the front; what follows in *ret_rest. */
static bool progress_whole(struct span s, uint64_t *ret, struct span *ret_rest)
{
	size_t n = 0;
	while (n < s.len && char_digit(s.p[n]))
		n++;
	if (n == 0 || span_u64((struct span){s.p, n}, ret) < 0)
		return false;
	*ret_rest = from(s, n);
	return true;
}

static bool starts_nocase(struct span s, const char *word)
{
	size_t n = strlen(word);
	if (s.len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (progress_lower(s.p[i]) != word[i])
			return false;
	return true;
}

/* "nan", "inf", "-1.5e-3"; no locale. */
static bool progress_number(struct span s, double *ret)
{
	double v = 0, scale = 1;
	bool minus = s.len > 0 && s.p[0] == '-', any = false;
	s = from(s, s.len > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0);
	if (starts_nocase(s, "nan") || starts_nocase(s, "inf")) {
		bool is_nan = progress_lower(s.p[0]) == 'n';
		struct span rest = from(s, starts_nocase(s, "infinity") ? 8 : 3);
		if (rest.len > 0 && (letter(rest.p[0]) || char_digit(rest.p[0])))
			return false;
		*ret = is_nan ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
		return true;
	}
	for (; s.len > 0 && char_digit(s.p[0]); s = from(s, 1), any = true)
		v = v * 10 + (s.p[0] - '0');
	if (s.len > 0 && s.p[0] == '.')
		for (s = from(s, 1); s.len > 0 && char_digit(s.p[0]); s = from(s, 1), any = true)
			v += (s.p[0] - '0') * (scale /= 10);
	if (any && s.len > 1 && progress_lower(s.p[0]) == 'e') {
		bool down = s.p[1] == '-';
		uint64_t exponent;
		struct span rest;
		if (progress_whole(from(s, s.p[1] == '-' || s.p[1] == '+' ? 2 : 1), &exponent, &rest) && exponent < 400)
			v *= pow(10, down ? -(double)exponent : (double)exponent);
	}
	if (any)
		*ret = minus ? -v : v;
	return any;
}

/* The text after a word; p is NULL if the word is absent. The word must not be the end of a longer word. */
static struct span after_word(struct span s, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= s.len; i++)
		if (progress_lower(s.p[i]) == word[0] && (i == 0 || (!letter(s.p[i - 1]) && !char_digit(s.p[i - 1]))) &&
		    starts_nocase(from(s, i), word))
			return from(s, i + n);
	return (struct span){NULL, 0};
}

/* "loss: 0.3", "loss=nan", "'loss': 2.1", "lm loss: 1E+01" */
static void loss_find(struct span s, struct progress_line *r)
{
	for (struct span at = after_word(s, "loss"); at.p; at = after_word(at, "loss")) {
		if (at.len > 0 && (letter(at.p[0]) || char_digit(at.p[0])))
			continue; /* loss_scale, losses */
		struct span value = skip(at, "'\" ");
		if (value.len == 0 || (value.p[0] != ':' && value.p[0] != '='))
			continue;
		if (progress_number(skip(value, ":= '\""), &r->loss)) {
			r->has_loss = true;
			return;
		}
	}
}

/* "epoch 3", "Epoch: [3]", "epoch=3", "'epoch': 0.5" */
static bool epoch_find(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "epoch");
	at = at.p ? skip(at, "'\" :=[#") : at;
	if (!at.p || at.len == 0 || !char_digit(at.p[0]))
		return false;
	r->has_epoch = progress_number(at, &r->epoch);
	return r->has_epoch;
}

/* Seconds or steps: "3.68it/s", "12.1s/it", "2step/s" */
static void rate_find(struct span s, struct progress_line *r)
{
	for (size_t i = 0; i < s.len; i++) {
		double v;
		bool start = char_digit(s.p[i]) && (i == 0 || (!char_digit(s.p[i - 1]) && s.p[i - 1] != '.'));
		if (!start || !progress_number(from(s, i), &v))
			continue;
		size_t end = i;
		while (end < s.len && (char_digit(s.p[end]) || s.p[end] == '.'))
			end++;
		struct span unit = from(s, end);
		if (starts_nocase(unit, "s/it") || starts_nocase(unit, "s/step") || starts_nocase(unit, "s/batch"))
			v = v > 0 ? 1 / v : 0;
		else if (!starts_nocase(unit, "it/s") && !starts_nocase(unit, "step/s") &&
			 !starts_nocase(unit, "batch/s"))
			continue;
		r->has_rate = v > 0;
		r->rate_per_s = v;
		return;
	}
}

/* Finds "120/1875" in s; *ret_rest is the text after it. */
static bool of_total(struct span s, struct progress_line *r, struct span *ret_rest)
{
	for (size_t i = 0; i < s.len; i++) {
		uint64_t step, total;
		struct span rest;
		const char before = i > 0 ? s.p[i - 1] : ' ';
		if (!char_digit(s.p[i]) || char_digit(before) || before == '.' || before == '/')
			continue;
		if (!progress_whole(from(s, i), &step, &rest))
			continue;
		rest = skip(rest, " ");
		if (rest.len < 2 || rest.p[0] != '/' || !progress_whole(skip(from(rest, 1), " "), &total, &rest))
			continue;
		r->step = step;
		r->total = total;
		r->has_step = r->has_total = true;
		*ret_rest = rest;
		return true;
	}
	return false;
}

/* "desc:  8%|##   | 151/1909 [00:46<07:57,  3.68it/s, loss=0.1]" */
static bool tqdm(struct span s, struct progress_line *r)
{
	struct span bar = span_after(s, "%|"), rest;
	if (!bar.p)
		return false;
	bar = span_after(bar, "|");
	if (!bar.p || !of_total(bar, r, &rest) || !(rest = skip(rest, " ")).len || rest.p[0] != '[')
		return false;
	rate_find(rest, r);
	loss_find(rest, r);
	struct span head = span_before(s, "%|");
	r->form = epoch_find(head, r) && span_after(rest, "v_num=").p ? PROGRESS_LIGHTNING : PROGRESS_TQDM;
	return true;
}

/* "{'loss': 2.1, 'grad_norm': 1.0, 'learning_rate': 5e-05, 'epoch': 0.51}" */
static bool trainer(struct span s, struct progress_line *r)
{
	if (s.len == 0 || s.p[0] != '{' || !span_has(s, "'epoch'"))
		return false;
	if (!span_has(s, "'loss'") && !span_has(s, "'eval_loss'") && !span_has(s, "'train_loss'"))
		return false;
	if (!epoch_find(s, r))
		return false;
	loss_find(s, r);
	r->form = PROGRESS_TRAINER;
	return true;
}

/* " iteration  100/ 24000 | consumed samples: 5 | elapsed time per iteration (ms): 271.0 | lm loss: 1E+01 |" */
static bool megatron(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "iteration"), rest;
	double ms;
	if (!at.p || !span_has(at, "consumed samples:"))
		return false;
	struct span head = span_before(at, "|");
	if (!of_total(head, r, &rest))
		return false;
	struct span time = span_after(at, "elapsed time per iteration (ms):");
	if (time.p && progress_number(skip(time, " "), &ms) && ms > 0) {
		r->has_rate = true;
		r->rate_per_s = 1000 / ms;
	}
	loss_find(at, r);
	r->form = PROGRESS_MEGATRON;
	return true;
}

/* "step: 10  loss:  7.1  memory:  3.1GiB(…)  tps: 2,345" */
static bool torchtitan(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "step:"), rest;
	if (!at.p || !span_has(at, "tps:") || !progress_whole(skip(at, " "), &r->step, &rest))
		return false;
	r->has_step = true;
	loss_find(rest, r);
	r->form = PROGRESS_TORCHTITAN;
	return true;
}

/* "steps: 20 loss: 6.9 iter time (s): 0.5 samples/sec: 12.3" */
static bool deepspeed(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "steps:"), rest;
	double seconds;
	if (!at.p || !span_has(at, "iter time (s):") || !progress_whole(skip(at, " "), &r->step, &rest))
		return false;
	r->has_step = true;
	if (progress_number(skip(span_after(at, "iter time (s):"), " "), &seconds) && seconds > 0) {
		r->has_rate = true;
		r->rate_per_s = 1 / seconds;
	}
	loss_find(rest, r);
	r->form = PROGRESS_DEEPSPEED;
	return true;
}

/* " 120/1875 [==>.......] - ETA: 5s - loss: 0.3", newer with a bar of other characters behind a blank */
static bool keras(struct span s, struct progress_line *r)
{
	struct progress_line found = *r;
	struct span t = span_trim(s), rest;
	if (t.len == 0 || !char_digit(t.p[0]) || !of_total((struct span){t.p, MIN(t.len, (size_t)24)}, &found, &rest))
		return false;
	rest = skip(from(t, (size_t)(rest.p - t.p)), " ");
	bool old = rest.len > 1 && rest.p[0] == '[' && strchr("=>.", rest.p[1]);
	bool fresh = span_starts(rest, "\xe2\x94\x81");
	if (!old && !fresh)
		return false;
	*r = found;
	loss_find(rest, r);
	r->form = PROGRESS_KERAS;
	return true;
}

/* "Epoch 0/4 ━━━━━━ 64/64 0:00:00 • 0:00:00 90.1it/s v_num: 0 train_loss: 0.3": Lightning's bar of the library rich */
static bool rich(struct span s, struct progress_line *r)
{
	static const char *const bars[] = {"\xe2\x94\x81", "\xe2\x95\xb8", "\xe2\x95\xba"};
	struct span head = span_before(s, bars[0]), rest = {NULL, 0};
	for (size_t i = 0; i < ARRAY_SIZE(bars); i++) {
		const char *last = span_rfind(s, bars[i]);
		if (last && (!rest.p || last + 3 > rest.p))
			rest = (struct span){last + 3, (size_t)(s.p + s.len - last) - 3};
	}
	if (!rest.p || !span_has(rest, "it/s") || !epoch_find(head, r) || !of_total(rest, r, &rest))
		return false;
	rate_find(rest, r);
	loss_find(rest, r);
	r->form = PROGRESS_LIGHTNING;
	return true;
}

/* "Epoch:[48][20384/all] loss …", "Epoch: [3][ 120/1875]", "[Epoch 3][ 120/1875]" */
static bool brackets(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "epoch"), rest;
	uint64_t epoch, step, total;
	const size_t before = at.p ? (size_t)(at.p - s.p) - strlen("epoch") : 0;
	at = at.p ? skip(at, ": ") : at;
	if (at.p && at.len > 0 && at.p[0] == '[')
		at = from(at, 1);
	else if (before == 0 || s.p[before - 1] != '[')
		return false;
	if (!progress_whole(skip(at, " "), &epoch, &rest))
		return false;
	rest = skip(rest, " ");
	if (!span_starts(rest, "]") || !(rest = skip(from(rest, 1), " ")).len || rest.p[0] != '[')
		return false;
	if (!progress_whole(skip(from(rest, 1), " "), &step, &rest))
		return false;
	r->has_epoch = r->has_step = true;
	r->epoch = (double)epoch;
	r->step = step;
	rest = skip(rest, " ");
	if (span_starts(rest, "/") && progress_whole(skip(from(rest, 1), " "), &total, &rest)) {
		r->has_total = true;
		r->total = total;
	}
	loss_find(rest, r);
	r->form = PROGRESS_BRACKETS;
	return true;
}

/* "| epoch 001:     20 / 100 loss 0.5 nll_loss 0.4" */
static bool fairseq(struct span s, struct progress_line *r)
{
	struct span at = after_word(s, "epoch"), rest;
	struct progress_line found = *r;
	uint64_t epoch;
	if (!at.p || !progress_whole(skip(at, " "), &epoch, &rest) || !span_starts(rest, ":"))
		return false;
	rest = skip(from(rest, 1), " ");
	if (rest.len == 0 || !char_digit(rest.p[0]) ||
	    !of_total((struct span){rest.p, MIN(rest.len, (size_t)24)}, &found, &at))
		return false;
	*r = found;
	r->has_epoch = true;
	r->epoch = (double)epoch;
	struct span loss = after_word(rest, "loss ");
	r->has_loss = loss.p && progress_number(skip(loss, " "), &r->loss);
	r->form = PROGRESS_WORDS;
	return true;
}

/* "[31/50] loss=0.3", "[12:00:07] 31/50 loss=0.3"; no date and no part of a path */
static void of_total_before_loss(struct span s, struct progress_line *r)
{
	struct progress_line found = *r;
	struct span t = span_trim(s), loss = after_word(s, "loss"), rest;
	if (t.len > 0 && t.p[0] == '[' && of_total(span_before(t, "]"), r, &rest))
		return;
	if (!loss.p || !of_total((struct span){s.p, (size_t)(loss.p - s.p)}, &found, &rest))
		return;
	const bool day = rest.len > 3 && rest.p[3] == ':'; /* "11/26 12:00:07" */
	if (found.step <= found.total && span_starts(rest, " ") && !day)
		*r = found;
}

/* "120", ": 5/100", "=7": what stands behind the word of a step. False: no whole number. */
static bool step_behind(struct span at, struct progress_line *r)
{
	struct span rest;
	if (!at.p || at.len == 0 || !strchr(" :=['\"", at.p[0]) ||
	    !progress_whole(skip(at, " :=['\""), &r->step, &rest))
		return false;
	if (rest.len > 0 && (letter(rest.p[0]) || rest.p[0] == '.'))
		return false; /* "step 3rd", "step 0.5" */
	r->has_step = true;
	rest = skip(rest, " ");
	if (span_starts(rest, "/") && progress_whole(skip(from(rest, 1), " "), &r->total, &rest))
		r->has_total = true;
	return true;
}

/* "Episode 25: reward -3.5", "round 4 | accuracy 0.81", "it=7 loss=0.1": words that mean steps beside a measure. */
static bool episodes(struct span s, struct progress_line *r)
{
	static const char *const names[] = {"episode", "update", "round", "generation",
					    "rollout", "trial",	 "it"};
	static const char *const measured[] = {"loss",	   "reward",  "rewards",  "return",  "returns",
					       "score",	   "fitness", "accuracy", "acc"};
	bool any = false;
	for (size_t i = 0; i < ARRAY_SIZE(measured) && !any; i++) {
		struct span at = after_word(s, measured[i]);
		any = at.p && (at.len == 0 || !letter(at.p[0]));
	}
	for (size_t i = 0; any && i < ARRAY_SIZE(names) && !r->has_step; i++)
		step_behind(after_word(s, names[i]), r);
	return r->has_step;
}

/* "step 120", "iter: 5/100", "global_step=7", "batch [12" with an epoch, a loss or a total beside */
static bool words(struct span s, struct progress_line *r)
{
	static const char *const names[] = {"global_step", "global step", "step", "_step",
					    "iteration",   "iter",	  "batch"};
	for (size_t i = 0; i < ARRAY_SIZE(names) && !r->has_step; i++)
		step_behind(after_word(s, names[i]), r);
	if (!r->has_step)
		episodes(s, r);
	bool epoch = epoch_find(s, r);
	loss_find(s, r);
	if (!r->has_step && r->has_loss)
		of_total_before_loss(s, r);
	if (!r->has_step && !(epoch && r->has_loss) && !(epoch && starts_nocase(s, "epoch")))
		return false;
	r->form = PROGRESS_WORDS;
	return true;
}

/*
 * "   25   0.0920", "25,0.0920,0.71": a row of a table that a loop prints, of numbers alone. The first is whole, of the
 * others at least one is not.
 */
static bool columns(struct span s, struct progress_line *r)
{
	const size_t most = 12;
	size_t n = 1, fractions = 0;
	struct span rest = span_trim(s);
	if (!progress_whole(rest, &r->step, &rest))
		return false;
	for (; rest.len > 0 && n < most; n++) {
		struct span field = skip(rest, " \t,;|");
		double v;
		if (field.p == rest.p || !progress_number(field, &v))
			return false;
		size_t end = 0;
		while (end < field.len && !strchr(" \t,;|", field.p[end]))
			end++;
		struct span left = skip((struct span){field.p, end}, "+-.0123456789eE");
		if (left.len > 0 && !starts_nocase(left, "nan") && !starts_nocase(left, "inf"))
			return false;
		fractions += memchr(field.p, '.', end) != NULL;
		rest = from(field, end);
	}
	r->has_step = fractions > 0 && rest.len == 0;
	r->form = PROGRESS_COLUMNS;
	return r->has_step;
}

static bool user_number(const struct progress_pattern *p, enum progress_part part, const struct span *groups,
			double *ret)
{
	struct span s = p->group[part] ? groups[p->group[part]] : (struct span){NULL, 0};
	return s.p && progress_number(s, ret);
}

static bool user_count(const struct progress_pattern *p, enum progress_part part, const struct span *groups,
		       uint64_t *ret)
{
	double v;
	if (!user_number(p, part, groups, &v) || !(v >= 0 && v < 1e18))
		return false;
	*ret = (uint64_t)v;
	return true;
}

static bool user_line(struct span s, const struct progress_patterns *u, struct progress_line *r)
{
	struct span groups[PATTERN_GROUPS];
	for (size_t i = 0; i < u->n; i++) {
		const struct progress_pattern *p = &u->each[i];
		if (!pattern_match(&p->pattern, s, groups))
			continue;
		r->has_epoch = user_number(p, PROGRESS_EPOCH, groups, &r->epoch);
		r->has_loss = user_number(p, PROGRESS_LOSS, groups, &r->loss);
		r->has_step = user_count(p, PROGRESS_STEP, groups, &r->step);
		r->has_total = user_count(p, PROGRESS_TOTAL, groups, &r->total);
		r->form = PROGRESS_USER;
		if (r->has_epoch || r->has_step || r->has_loss)
			return true;
	}
	return false;
}

int progress_parse(struct span line, const struct progress_patterns *user, struct progress_line *ret)
{
	typedef bool reader(struct span s, struct progress_line * r);
	static reader *const readers[] = {tqdm,	 trainer, megatron, torchtitan, deepspeed,
					  keras, rich,	  brackets, fairseq,	words,	   columns};
	struct logline l;
	logline_parse(line, &l);
	struct progress_line r = {.rank = l.rank};
	/* the user's pattern may include text that looks like a prefix of a launcher */
	if (user && (user_line(l.text, user, &r) || (l.text.len < line.len && user_line(line, user, &r)))) {
		*ret = r;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		r = (struct progress_line){.rank = l.rank};
		if (readers[i](l.text, &r)) {
			*ret = r;
			return 0;
		}
	}
	return PROGRESS_NONE;
}

static bool has_word(struct span s, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= s.len; i++)
		if (strncasecmp(s.p + i, word, n) == 0 && (i == 0 || !char_letter(s.p[i - 1])) &&
		    (i + n == s.len || !char_letter(s.p[i + n])))
			return true;
	return false;
}

bool progress_ends_epoch(struct span line)
{
	static const char *const words[] = {"done", "end", "ended", "finished", "complete", "completed"};
	const size_t longest = 200; /* longer ones are prose */
	if (line.len > longest || !has_word(line, "epoch"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (has_word(line, words[i]))
			return true;
	return false;
}

/* ---- over time ---- */

void progress_init(struct progress *p, const struct progress_patterns *user)
{
	*p = (struct progress){.user = user};
}

static void step_seen(struct progress *p, const struct progress_line *l, uint64_t now_ns)
{
	if (!l->has_step)
		return;
	bool same = p->any && p->last.has_step && p->last.form == l->form && p->last.total == l->total;
	if (!same || l->step != p->last.step) {
		p->last_step_ns = now_ns;
		p->n_steps++;
		p->has_step_time = true;
		p->epoch_ended = false;
	}
}

/* l: the line as progress, NULL if it is none; its step or the last one before is where a number broke. */
static void broken_note(const struct progress *p, const struct progress_line *l, bool infinite,
			struct progress_broken *b)
{
	if (b->found)
		return;
	bool of_line = l && l->has_step;
	*b = (struct progress_broken){.found = true,
				      .infinite = infinite,
				      .has_step = of_line || (p->any && p->last.has_step),
				      .step = of_line ? l->step : p->last.step};
}

static void broken_find(struct progress *p, const struct progress_line *l)
{
	struct lossline found;
	struct logline line;
	logline_parse((struct span){p->line, p->len}, &line);
	lossline_read(line.text, &found);
	/* the user's own pattern says what the loss is */
	bool users = l && l->form == PROGRESS_USER && l->has_loss && !isfinite(l->loss);
	if (found.loss || users)
		broken_note(p, l, users ? isinf(l->loss) : found.infinite, &p->loss);
	if (found.has_norm || found.norm)
		p->norms = found.norm ? p->norms + 1 : 0;
	if (p->norms >= PROGRESS_NORMS)
		broken_note(p, l, false, &p->norm);
}

static void count_take(struct progress *p, uint64_t now_ns)
{
	struct logline line;
	logline_parse((struct span){p->line, p->len}, &line);
	progresscount_line(&p->count, line.text, now_ns);
}

static void line_done(struct progress *p, uint64_t now_ns)
{
	struct progress_line l;
	bool whole = !p->too_long && p->len > 0;
	bool read = whole && progress_parse((struct span){p->line, p->len}, p->user, &l) == 0;
	if (whole)
		broken_find(p, read ? &l : NULL);
	if (whole && !p->any)
		count_take(p, now_ns);
	bool ends = !p->too_long && progress_ends_epoch((struct span){p->line, p->len});
	if (read) {
		step_seen(p, &l, now_ns);
		if (!l.has_step && p->any && p->last.has_step) {
			/* a line with only a loss keeps the step of the line before */
			p->last.has_epoch |= l.has_epoch;
			p->last.epoch = l.has_epoch ? l.epoch : p->last.epoch;
			p->last.has_loss |= l.has_loss;
			p->last.loss = l.has_loss ? l.loss : p->last.loss;
		} else {
			p->last = l;
		}
		p->any = true;
		p->n_lines++;
		ends &= !l.has_step; /* a bar that prints "done" at its last step counts steps, not epochs */
	}
	p->epoch_ended |= ends;
	p->len = 0;
	p->too_long = false;
}

void progress_feed(struct progress *p, const char *data, size_t len, uint64_t now_ns)
{
	char block[1024];
	while (len > 0) {
		size_t n = MIN(len, sizeof(block));
		memcpy(block, data, n);
		data += n;
		len -= n;
		n = ansi_strip(&p->ansi, block, n);
		for (size_t i = 0; i < n; i++) {
			if (block[i] == '\n' || block[i] == '\r')
				line_done(p, now_ns);
			else if (p->len == sizeof(p->line))
				p->too_long = true;
			else
				p->line[p->len++] = block[i];
		}
	}
}
