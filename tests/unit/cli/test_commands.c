#include "testing.h"

#include <stdio.h>

#include "cli/options/commands.h"

/* cli/main.c, which has the table, is not part of the library: the same commands in any order. */
const struct command *const commands[] = {
	&command_agent,	      &command_calls,
	&command_collectives, &command_config,
	&command_doctor,      &command_events,
	&command_flame,	      &command_gpus,
	&command_heap,	      &command_help,
	&command_map,
	&command_jobs,	      &command_logs,
	&command_mem,	      &command_notify,
	&command_protect,     &command_ps,
	&command_report,
	&command_rules,	      &command_run,
	&command_show,	      &command_stack,
	&command_timeline,    &command_version,
	&command_waits,	      &command_watch,
	&command_why,	      NULL,
};

const struct command *command_find(const char *name)
{
	(void)name;
	return NULL;
}

void command_unknown(const char *name)
{
	(void)name;
}

static size_t field_bytes(const struct option *o)
{
	static const size_t bytes[] = {
		[OPTION_FLAG] = sizeof(bool),	 [OPTION_TEXT] = sizeof(char *),
		[OPTION_U32] = sizeof(uint32_t), [OPTION_SIZE] = sizeof(uint64_t),
		[OPTION_RATIO] = sizeof(double), [OPTION_DURATION] = sizeof(uint64_t),
		[OPTION_CHOICE] = sizeof(int),	 [OPTION_LIST] = sizeof(struct option_list),
	};
	return bytes[o->type];
}

static void every_field_lies_in_the_options_of_its_command(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++)
		for (const struct option *o = commands[i]->options; o->name; o++)
			assert_true(o->offset + field_bytes(o) <= commands[i]->options_size);
}

static void no_two_options_share_a_name_a_letter_or_a_field(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++)
		for (const struct option *o = commands[i]->options; o->name; o++)
			for (const struct option *p = o + 1; p->name; p++) {
				assert_string_not_equal(option_name(o), option_name(p));
				assert_true(o->letter == 0 || o->letter != p->letter);
				assert_true(o->offset != p->offset);
			}
}

static void rows_are_complete_for_their_type(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++)
		for (const struct option *o = commands[i]->options; o->name; o++) {
			assert_int_equal(o->type == OPTION_CHOICE, o->choices != NULL);
			assert_true(o->letter != 'h'); /* --help's */
			if (!o->help)
				continue;
			assert_int_equal(o->type == OPTION_FLAG, o->arg == NULL);
			assert_true(o->help[strlen(o->help) - 1] != '.');
		}
}

static void a_condition_looks_at_a_choice_of_a_row_above(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++)
		for (const struct option *o = commands[i]->options; o->name; o++) {
			const struct option *above = commands[i]->options;
			if (!o->env_if)
				continue;
			assert_non_null(o->env);
			while (above < o && !(above->type == OPTION_CHOICE && above->offset == o->env_if_offset))
				above++;
			assert_ptr_not_equal(above, o);
		}
}

static void usage_and_summary_are_there(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		char start[40];
		(void)snprintf(start, sizeof(start), "vigil %s", c->name);
		assert_int_equal(strncmp(c->usage, start, strlen(start)), 0);
		assert_true(strlen(c->summary) > 0 &&
			    strlen(c->summary) <= 65); /* a line of 80 columns with the name */
		assert_non_null(c->run);
		assert_int_equal(c->usage_status, c == &command_run || c == &command_map ? 125 : 2);
	}
}

static void defaults_can_be_typed(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		for (const struct option *o = c->options; o->name && c->defaults; o++) {
			_Alignas(struct option_list) char scratch[sizeof(struct option_list)];
			char text[300], again[300];
			struct option only = *o;
			struct fault f = {.text = ""};
			option_format(o, c->defaults, text, sizeof(text));
			if (!text[0])
				continue;
			only.offset = 0;
			assert_int_equal(option_set(&only, text, "x", scratch, &f), 0);
			option_format(&only, scratch, again, sizeof(again));
			assert_string_equal(again, text);
		}
	}
}

static void help_and_manual_name_every_option(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i]; i++) {
		cleanup(freep) char *help = NULL;
		size_t len;
		FILE *to = open_memstream(&help, &len);
		assert_non_null(to);
		option_help(commands[i], to);
		assert_int_equal(fclose(to), 0);
		for (const struct option *o = commands[i]->options; o->name; o++) {
			char flag[60];
			(void)snprintf(flag, sizeof(flag), "%s%s", o->name[0] == '[' ? "--[no-]" : "--",
				       option_name(o));
			assert_int_equal(strstr(help, flag) != NULL, o->help != NULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_lies_in_the_options_of_its_command),
		cmocka_unit_test(no_two_options_share_a_name_a_letter_or_a_field),
		cmocka_unit_test(rows_are_complete_for_their_type),
		cmocka_unit_test(a_condition_looks_at_a_choice_of_a_row_above),
		cmocka_unit_test(usage_and_summary_are_there),
		cmocka_unit_test(defaults_can_be_typed),
		cmocka_unit_test(help_and_manual_name_every_option),
	};
	return cmocka_run_group_tests_name("cli/commands", tests, NULL, NULL);
}
