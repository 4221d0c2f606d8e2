/*
 * The command of a bag of tasks with its replacement strings, as GNU parallel spells them, and what becomes of it for
 * one task. There is no shell: each word of the command is one argument, and a replacement changes what is inside of
 * it.
 *
 *   {} {.} {/} {//} {/.}   the input; without extension; name; folder; name without extension
 *   {N} {N.} {-1/} …       the same of the Nth input of a task, from the end where N is negative
 *   {#} {##} {%}           number of the task; of all tasks; of the place it runs in
 *
 * A word that is only {} becomes one word for each input of the task; one that is only {N} is left out where there is
 * no Nth input. With -N and -X a word with {} inside of it does as well, and with -m its inputs are parted by the ends
 * of words: a{}b becomes a1 2 3b. The script of `sh -c SCRIPT` is the one text that a shell reads: inputs are quoted in
 * it, so that no input becomes a command. Where it has quotes of its own, it begins with assignments (input_1='a b';
 * …), and "{}" becomes "${input_1}": a value is never read as script, whatever it is and wherever it stands (but in
 * $((…)) of bash, which evaluates values). Plain inputs are put in as they are.
 * Any other text in braces stays as it is.
 *
 * Pure. Texts given are borrowed for as long as the template lives.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

struct template;

enum template_many { MANY_JOINED, MANY_WORDS, MANY_PARTED }; /* one word; one for each input (-N, -X); -m */

/* What a task has to put in. many: what becomes of a word with {} inside, if there are several inputs. */
struct template_values {
	const char *const *arg;
	size_t n_args;
	enum template_many many;
	uint64_t seq, slot, total;
};

/* The words of one task. Reused from task to task; zeroed before the first. */
struct template_words {
	char **argv; /* NULL-terminated, into text */
	size_t argc, argv_cap;
	char *text; /* each word ended by a NUL */
	size_t len, cap;
	size_t *at; /* offsets of the words */
	size_t at_cap;
};

/*
 * Of inputs: a command without any replacement gets {} as its last word. Of blocks: it does not. Of lines: an input is
 * a script of its own, which is put in as it is. -EINVAL with a sentence, -ENOMEM.
 */
enum template_of { TEMPLATE_OF_INPUTS, TEMPLATE_OF_BLOCKS, TEMPLATE_OF_LINES };
int must_check template_new(char *const *words, size_t n, enum template_of of, struct template **ret, struct fault *f);
struct template *template_free(struct template *t);
static inline void template_freep(struct template **t)
{
	*t = template_free(*t);
}
/* True if {##} stands in it, so that all inputs must be read before the first task starts. */
bool template_wants_total(const struct template *t);
/* True if {%} stands in it, so that the words depend on where a task runs. */
bool template_wants_slot(const struct template *t);
/* The first word if it is the same for every task; else NULL. */
const char *template_program(const struct template *t);
/* -ENOMEM. */
int must_check template_fill(const struct template *t, const struct template_values *v, struct template_words *ret);
void template_words_done(struct template_words *w);
/* The length of the line that the words are with one blank between them, without quotes. */
size_t template_words_bytes(const struct template_words *w);
/* The words as one line that a shell would read as these words; malloc'ed, or NULL. */
char *template_line(const struct template_words *w);
