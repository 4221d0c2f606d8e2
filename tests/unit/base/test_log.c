/* Messages: their prefix, their level, their bound, and the sink that takes them. Faults are tested here as well. */
#include "testing.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/log.h"

struct taken {
	struct buf buf;
	char text[8192];
	unsigned n;
};

static void keep(void *ctx, const char *text, size_t len)
{
	struct taken *t = ctx;
	buf_add_n(&t->buf, text, len);
	t->n++;
}

static void taken_begin(struct taken *t)
{
	*t = (struct taken){.n = 0};
	t->buf = BUF_ON(t->text);
	log_set_sink(keep, t);
}

static void a_message_is_one_line_with_the_name_in_front(void **state)
{
	(void)state;
	static struct taken t;
	taken_begin(&t);
	log_error("rank %d: %s", 3, "lost");
	log_text("a\nb\n", 4);
	log_set_sink(NULL, NULL);
	assert_string_equal(t.text, "vigil: rank 3: lost\na\nb\n");
	assert_int_equal(t.n, 2);
}

/* Names of others that turn the reading direction, move the cursor or are no UTF-8. JSON stays as it is. */
static void what_makes_text_look_like_another_is_shown_as_a_mark(void **state)
{
	(void)state;
	static struct taken t;
	static const char object[] = "{\"name\": \"a\u202eb\"}\n";
	taken_begin(&t);
	log_error("no job '%s'", "ev\u202eil\u2066x\u200f \033[2J\302\233\377\303\251\t.");
	log_text("a\u202db\ncd\r\n", strlen("a\u202db\ncd\r\n"));
	log_text(object, sizeof(object) - 1);
	log_set_sink(NULL, NULL);
	assert_string_equal(t.text,
			    "vigil: no job 'ev?il?x? ?[2J??\303\251\t.'\na?b\ncd?\n{\"name\": \"a\u202eb\"}\n");
	assert_int_equal(t.n, 3);
}

static void messages_above_the_level_are_dropped(void **state)
{
	(void)state;
	static struct taken t;
	taken_begin(&t);
	log_debug("1");
	log_info("2");
	log_set_level(LOG_LEVEL_ERROR);
	log_warning("3");
	log_error("4");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("5");
	log_set_level(LOG_LEVEL_INFO);
	log_set_sink(NULL, NULL);
	assert_string_equal(t.text, "vigil: 2\nvigil: 4\nvigil: 5\n");
}

static void a_long_message_is_cut_and_still_ends_its_line(void **state)
{
	(void)state;
	static struct taken t;
	static char text[5000];
	memset(text, 'x', sizeof(text) - 1);
	taken_begin(&t);
	log_error("%s", text);
	log_set_sink(NULL, NULL);
	assert_int_equal(t.buf.len, 4095);
	assert_int_equal(t.text[4094], '\n');
	assert_int_equal(t.text[4093], 'x');
}

static void a_fault_keeps_its_sentence_and_returns_the_code(void **state)
{
	(void)state;
	struct fault f = {.line = 7};
	assert_int_equal(fault_set(&f, -EINVAL, "'%s' is wrong", "x"), -EINVAL);
	assert_string_equal(f.text, "'x' is wrong");
	assert_int_equal(f.line, 7);
	assert_int_equal(fault_set(NULL, 5, "unused"), 5);
	assert_int_equal(fault_set(&f, 1, "%0600d", 0), 1);
	assert_int_equal(strlen(f.text), sizeof(f.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_one_line_with_the_name_in_front),
		cmocka_unit_test(what_makes_text_look_like_another_is_shown_as_a_mark),
		cmocka_unit_test(messages_above_the_level_are_dropped),
		cmocka_unit_test(a_long_message_is_cut_and_still_ends_its_line),
		cmocka_unit_test(a_fault_keeps_its_sentence_and_returns_the_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
