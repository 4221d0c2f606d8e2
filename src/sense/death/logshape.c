#include "sense/death/logshape.h"

static uint64_t mixed(uint64_t h, unsigned char c)
{
	return (h ^ c) * 1099511628211U; /* FNV-1a */
}

static bool logshape_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool logshape_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct form {
	uint64_t letters, numbers;
	size_t n_letters, n_digits;
};

/* Only letters make the form: bars, colons and spaces of a progress bar change from line to line. */
static struct form form_of(struct span text)
{
	struct form f = {.letters = 14695981039346656037U, .numbers = 14695981039346656037U};
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		bool exponent = (c == 'e' || c == 'E') && i > 0 && logshape_is_digit(text.p[i - 1]) &&
				i + 1 < text.len &&
				(logshape_is_digit(text.p[i + 1]) || text.p[i + 1] == '-' || text.p[i + 1] == '+');
		if (logshape_is_digit(c) || exponent) {
			f.numbers = mixed(f.numbers, (unsigned char)c);
			f.n_digits += logshape_is_digit(c);
		} else if (logshape_is_letter(c)) {
			f.letters = mixed(f.letters, (unsigned char)c);
			f.n_letters++;
		}
	}
	return f;
}

void logshape_add(struct logshape *s, struct span text, uint32_t line)
{
	struct form f = form_of(text);
	s->latest[s->n_lines++ % LOGSHAPE_LATEST] = line;
	if (f.n_letters < 2 || f.n_digits == 0)
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (s->each[i].form != f.letters)
			continue;
		if (s->each[i].numbers == f.numbers)
			return; /* the same line again is no step */
		s->each[i].numbers = f.numbers;
		s->each[i].before_last = s->each[i].last;
		s->each[i].last = line;
		s->each[i].n++;
		return;
	}
	if (s->n == LOGSHAPE_FORMS)
		return;
	s->each[s->n].form = f.letters;
	s->each[s->n].numbers = f.numbers;
	s->each[s->n].first = s->each[s->n].last = line;
	s->each[s->n].before_last = 0;
	s->each[s->n++].n = 1;
}

bool logshape_went_on(const struct logshape *s, uint32_t line)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->each[i].first < line && s->each[i].before_last > line)
			return true;
		if (s->each[i].first > line && s->each[i].n >= 3)
			return true;
	}
	return false;
}

uint32_t logshape_went_on_until(const struct logshape *s)
{
	uint32_t until = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->each[i].before_last > s->each[i].first + 1)
			until = MAX(until, s->each[i].before_last - 1);
		if (s->each[i].n >= 3 && s->each[i].first > 1)
			until = MAX(until, s->each[i].first - 1);
	}
	return until;
}

bool logshape_repeats(const struct logshape *s, struct span text)
{
	struct form f = form_of(text);
	for (size_t i = 0; i < s->n; i++)
		if (s->each[i].form == f.letters)
			return s->each[i].n >= 2;
	return false;
}

uint32_t logshape_after(const struct logshape *s, uint32_t line)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < MIN(s->n_lines, (uint32_t)LOGSHAPE_LATEST); i++)
		n += s->latest[i] > line;
	return n;
}
