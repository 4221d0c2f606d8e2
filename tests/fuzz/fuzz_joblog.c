/*
 * A joblog of any bytes: what is read of a line is written as a line that reads the same. The first line is a
 * template.
 */
#include <assert.h>
#include <string.h>

#include "model/map/joblog.h"
#include "model/map/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void row_again(struct span line)
{
	struct joblog_row row, again;
	size_t len;
	if (joblog_parse(line, &row) != 0)
		return;
	char *text = joblog_line(&row, &len);
	assert(text && text[len - 1] == '\n' && !memchr(text, '\n', len - 1));
	assert(joblog_parse((struct span){text, len - 1}, &again) == 0);
	assert(again.seq == row.seq && again.start_unix_ms == row.start_unix_ms && again.run_ms == row.run_ms);
	assert(again.exit_value == row.exit_value && again.signal == row.signal);
	free(text);
}

static void filled(const char *word)
{
	char *words[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(word), strdup(word)};
	const char *const args[] = {word, "b/c.d"};
	struct template *t = NULL;
	struct template_words w = {.argv = NULL};
	struct fault f;
	if (template_new(words, 4, TEMPLATE_OF_INPUTS, &t, &f) == 0) {
		assert(template_fill(t, &(struct template_values){.arg = args, .n_args = 2, .many = MANY_WORDS}, &w) ==
		       0);
		assert(w.argc >= 4 && w.argv[w.argc] == NULL);
		free(template_line(&w));
	}
	template_words_done(&w);
	template_free(t);
	free(words[2]);
	free(words[3]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size}, line;
	char word[512];
	bool first = true;
	while (span_line(&text, &line)) {
		if (first && line.len < sizeof(word)) {
			span_copy(line, word, sizeof(word));
			filled(word);
		}
		first = false;
		row_again(line);
	}
	return 0;
}
