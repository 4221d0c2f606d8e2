#include "testing.h"

#include <stdio.h>

#include "model/map/template.h"

static char text_of[512];

/* The words of a task, each in brackets. */
static const char *filled(const char *const *words, size_t n, const char *const *args, size_t n_args,
			  enum template_many many)
{
	struct template *t = NULL;
	struct template_words w = {.argv = NULL};
	struct fault f = {.text = ""};
	struct template_values v = {.arg = args, .n_args = n_args, .many = many, .seq = 7, .slot = 2, .total = 30};
	union {
		const char *const *c;
		char *const *p;
	} u = {.c = words};
	text_of[0] = '\0';
	if (template_new(u.p, n, TEMPLATE_OF_INPUTS, &t, &f) < 0) {
		(void)snprintf(text_of, sizeof(text_of), "%s", f.text);
		return text_of;
	}
	size_t len = 0;
	if (template_fill(t, &v, &w) == 0)
		for (size_t i = 0; w.argv[i]; i++)
			len += (size_t)snprintf(text_of + len, sizeof(text_of) - len, "[%s]", w.argv[i]);
	template_words_done(&w);
	template_free(t);
	return text_of;
}

#define FILLED(word, ...)                                                                                              \
	filled((const char *const[]){"x", word}, 2, (const char *const[]){__VA_ARGS__},                                \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), MANY_JOINED)

static void an_input_is_cut_as_gnu_parallel_cuts_it(void **state)
{
	(void)state;
	/* input, {.}, {/}, {//}, {/.}: as printed by GNU parallel 20221122 */
	static const char *const as_parallel[][5] = {
		{"a b", "a b", "a b", ".", "a b"},
		{"a/b.c", "a/b", "b.c", "a", "b"},
		{"/x", "/x", "x", "/", "x"},
		{"x/", "x/", "", ".", ""},
		{".hid", "", ".hid", ".", ""},
		{"a.b/c", "a.b/c", "c", "a.b", "c"},
		{"", "", "", ".", ""},
		{"a.tar.gz", "a.tar", "a.tar.gz", ".", "a.tar"},
		{"./..", "./.", "..", ".", "."},
		{"/", "/", "", "/", ""},
		{"a//b", "a//b", "b", "a", "b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(as_parallel); i++) {
		const char *const *e = as_parallel[i];
		char want[256];
		(void)snprintf(want, sizeof(want), "[x][<%s|%s|%s|%s|%s>]", e[0], e[1], e[2], e[3], e[4]);
		assert_string_equal(FILLED("<{}|{.}|{/}|{//}|{/.}>", e[0]), want);
	}
}

static void inputs_are_named_by_their_place(void **state)
{
	(void)state;
	assert_string_equal(FILLED("{2}{1}{-1}", "a", "b"), "[x][bab]");
	assert_string_equal(FILLED("{1/}-{2.}-{-1//}", "a/b", "c/d.e"), "[x][b-c/d-c]");
	assert_string_equal(FILLED("<{3}>", "a", "b"), "[x][<>]");
	assert_string_equal(FILLED("{#}/{##} in {%}", "a"), "[x][7/30 in 2]");
}

static void several_inputs_are_several_words(void **state)
{
	(void)state;
	const char *const words[] = {"x", "{}", "a{}b"}, *const args[] = {"1 1", "2"};
	assert_string_equal(filled(words, 3, args, 2, MANY_JOINED), "[x][1 1][2][a1 1 2b]");
	assert_string_equal(filled(words, 3, args, 2, MANY_WORDS), "[x][1 1][2][a1 1b][a2b]");
	assert_string_equal(filled(words, 3, args, 2, MANY_PARTED), "[x][1 1][2][a1 1][2b]");
	assert_string_equal(filled(words, 2, args, 0, MANY_JOINED), "[x]");
}

static void without_a_replacement_the_input_is_the_last_word(void **state)
{
	(void)state;
	const char *const words[] = {"echo", "-n"}, *const args[] = {"a b", "c"};
	assert_string_equal(filled(words, 2, args, 2, MANY_JOINED), "[echo][-n][a b][c]");
}

static void other_braces_stay_as_they_are(void **state)
{
	(void)state;
	assert_string_equal(FILLED("{print $1}", "a"), "[x][{print $1}][a]");
	assert_string_equal(FILLED("{0}{-}{x}{1x}{}}{", "a"), "[x][{0}{-}{x}{1x}a}{]");
	assert_string_equal(FILLED("{{}", "a"), "[x][{a]");
	assert_non_null(strstr(FILLED("{= s/a/b/ =}", "a"), "Perl"));
}

/* What a shell reads is quoted, so that an input cannot become a command. */
static void a_shell_gets_its_inputs_quoted(void **state)
{
	(void)state;
	const char *const words[] = {"/bin/sh", "-ec", "ls {} $1", "sh", "{}"}, *const args[] = {"a; rm -rf 'b'"};
	assert_string_equal(filled(words, 5, args, 1, MANY_JOINED),
			    "[/bin/sh][-ec][ls 'a; rm -rf '\"'\"'b'\"'\"'' $1][sh][a; rm -rf 'b']");
	const char *const env[] = {"env", "A=b", "bash", "-c", "echo {}"}, *const two[] = {"x", ""};
	assert_string_equal(filled(env, 5, two, 2, MANY_WORDS), "[env][A=b][bash][-c][echo x '']");
	const char *const late[] = {"bash", "-o", "pipefail", "-c", "-e", "echo {}", "{}"}, *const bad[] = {";x"};
	assert_string_equal(filled(late, 7, bad, 1, MANY_JOINED), "[bash][-o][pipefail][-c][-e][echo ';x'][;x]");
	const char *const group[] = {"bash", "--rcfile", "f", "-euo", "pipefail", "+x", "-c", "--", "echo {}"};
	assert_string_equal(filled(group, 9, bad, 1, MANY_JOINED),
			    "[bash][--rcfile][f][-euo][pipefail][+x][-c][--][echo ';x']");
	const char *const file[] = {"bash", "-e", "f.sh", "-c", "{}"};
	assert_string_equal(filled(file, 5, bad, 1, MANY_JOINED), "[bash][-e][f.sh][-c][;x]");
	const char *const user[] = {"su", "u", "-c", "echo {}"};
	assert_string_equal(filled(user, 4, bad, 1, MANY_JOINED), "[su][u][-c][echo ';x']");
	const char *const sudo[] = {"sudo", "runuser", "-u", "u", "--command", "echo {}"};
	assert_string_equal(filled(sudo, 6, bad, 1, MANY_JOINED), "[sudo][runuser][-u][u][--command][echo ';x']");
	const char *const named[] = {"grep", "su", "-c", "{}"};
	assert_string_equal(filled(named, 4, bad, 1, MANY_JOINED), "[grep][su][-c][;x]");
	const char *const not [] = {"grep", "-c", "{}", "f"}, *const semi[] = {"a;b"};
	assert_string_equal(filled(not, 4, semi, 1, MANY_JOINED), "[grep][-c][a;b][f]");
}

#define SCRIPT(script, ...)                                                                                            \
	filled((const char *const[]){"sh", "-c", script}, 3, (const char *const[]){__VA_ARGS__},                       \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), MANY_JOINED)

/* Between the script's own quotes there is no way to quote that is right wherever it stands: a name is. */
static void a_script_with_quotes_gets_its_inputs_by_name(void **state)
{
	(void)state;
	assert_string_equal(SCRIPT("f \"<{}>\"", "$(x)"), "[sh][-c][input_1='$(x)'; f \"<${input_1}>\"]");
	assert_string_equal(SCRIPT("f '<{}>' {}", "a b"),
			    "[sh][-c][input_1='a b'; input_1='a b'; f '<'\"${input_1}\"'>' \"${input_1}\"]");
	assert_string_equal(SCRIPT("f \"{1/}\" {2.}", "d/a b", "x.y"),
			    "[sh][-c][input_1_name='a b'; f \"${input_1_name}\" x]");
	assert_string_equal(SCRIPT("f \"\" {}", "a b", "", "c"),
			    "[sh][-c][input_1='a b'; input_2=''; f \"\" \"${input_1}\" \"${input_2}\" c]");
	assert_string_equal(SCRIPT("# it's\nf \"\" {}", "a b"),
			    "[sh][-c][input_1='a b'; # it's\nf \"\" \"${input_1}\"]");
	assert_string_equal(SCRIPT("f \\\" a#' {}", "a b"), "[sh][-c][input_1='a b'; f \\\" a#' '\"${input_1}\"']");
	assert_string_equal(SCRIPT("# {}\nf", "a\nb"), "[sh][-c][input_1='a\nb'; # \"${input_1}\"\nf]");
	assert_string_equal(SCRIPT("f $(( {} ))", "$(x)"), "[sh][-c][input_1='$(x)'; f $(( \"${input_1}\" ))]");
	assert_string_equal(SCRIPT("cat <<E\n{}\nE", "`x`"), "[sh][-c][input_1='`x`'; cat <<E\n\"${input_1}\"\nE]");
	/* what is plain can be read by a person, too */
	assert_string_equal(SCRIPT("f \"{}\" '{.}' {#}", "d/a-1.txt"), "[sh][-c][f \"d/a-1.txt\" 'd/a-1' 7]");
}

static void a_line_can_be_given_to_a_shell(void **state)
{
	(void)state;
	char *argv[] = {(char[]){"echo"}, (char[]){"a b"}, (char[]){"it's"}, (char[]){""}, NULL};
	struct template_words w = {.argv = argv, .argc = 4};
	char *line = template_line(&w);
	assert_string_equal(line, "echo 'a b' 'it'\"'\"'s' ''");
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_input_is_cut_as_gnu_parallel_cuts_it),
		cmocka_unit_test(inputs_are_named_by_their_place),
		cmocka_unit_test(several_inputs_are_several_words),
		cmocka_unit_test(without_a_replacement_the_input_is_the_last_word),
		cmocka_unit_test(other_braces_stay_as_they_are),
		cmocka_unit_test(a_shell_gets_its_inputs_quoted),
		cmocka_unit_test(a_script_with_quotes_gets_its_inputs_by_name),
		cmocka_unit_test(a_line_can_be_given_to_a_shell),
	};
	return cmocka_run_group_tests_name("model/map/template", tests, NULL, NULL);
}
