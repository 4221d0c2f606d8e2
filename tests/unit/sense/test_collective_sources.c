/*
 * What comes from outside about collectives: RAS's gate, addresses and answers, places of dumps, error files, mended
 * JSON.
 */
#include "testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "sense/framework/elastic.h"
#include "sense/collective/flightrec.h"
#include "sense/format/jsonmend.h"
#include "sense/collective/ncclversion.h"

#include "elf_image.h"

static struct ncclras_version version(const char *text)
{
	struct ncclras_version v = {.known = false};
	assert_true(ncclras_version_parse(span_of(text), &v));
	return v;
}

static void versions_are_found(void **state)
{
	(void)state;
	struct ncclras_version v = version("2.28.9+cuda12.4");
	assert_true(v.major == 2 && v.minor == 28 && v.patch == 9);
	v = version("node1:12:34 [0] NCCL INFO NCCL version 2.27.3+cuda12.8");
	assert_true(v.minor == 27 && v.patch == 3);
	assert_true(version("/usr/lib/x86_64-linux-gnu/libnccl.so.2.29.2").minor == 29);
	assert_false(ncclras_version_parse(SPAN("libnccl.so.2"), &v));
	assert_false(ncclras_version_parse(SPAN("2.x.y"), &v));
}

static void only_the_library_s_own_words_are_its_version(void **state)
{
	(void)state;
	struct ncclras_version v;
	static const char words[] =
		"please use NCCL version 2.99.1 or later\0NCCL version %d.%d\0NCCL version 2.28.9+cuda12.4";
	assert_true(nccl_version_own((struct span){words, sizeof(words)}, &v));
	assert_true(v.minor == 28 && v.patch == 9);
	assert_true(nccl_version_own(SPAN("NCCL version 2.27.0rc1+cuda12.8"), &v) && v.minor == 27);
	assert_false(nccl_version_own(SPAN("NCCL version 2.28.9"), &v));
	assert_false(nccl_version_own(SPAN("NCCL version 2.28.9 is too old, and it was built of the one +cuda12"), &v));
	assert_false(nccl_version_own(SPAN("NCCL version "), &v));
	assert_false(nccl_version_own(SPAN(""), &v));
}

/* at: where the words stand in the section. 0, or as nccl_version_of_elf says. */
static int version_of_image(const char *section, size_t at, bool no_headers, struct ncclras_version *ret)
{
	static const char words[] = "NCCL version 2.28.9+cuda12.4";
	size_t len;
	cleanup(freep) char *bytes = calloc(1, at + MIB);
	assert_non_null(bytes);
	memcpy(bytes + at, words, sizeof(words));
	const struct image image = {
		.section = {{.name = ""}, {.name = section, .type = SHT_PROGBITS, .bytes = bytes, .len = at + MIB}},
		.n = 2,
		.no_headers = no_headers};
	cleanup(freep) unsigned char *p = image_bytes(&image, &len);
	struct elf e;
	assert_int_equal(elf_open_fd(bytes_fd(p, len), &e), 0);
	int r = nccl_version_of_elf(&e, ret);
	elf_done(&e);
	return r;
}

static void the_version_is_found_among_the_constants(void **state)
{
	(void)state;
	struct ncclras_version v = {.known = false};
	/* also where a piece ends that is read at once */
	for (size_t at = 256 * KIB - 100; at < 256 * KIB + 4; at++) {
		v.known = false;
		assert_int_equal(version_of_image(".rodata", at, false, &v), 0);
		assert_true(v.known && v.major == 2 && v.minor == 28 && v.patch == 9);
	}
	assert_int_equal(version_of_image(".data", 10, false, &v), 0);
	assert_int_equal(version_of_image(".debug_str", 10, false, &v), ELF_NONE);
	assert_int_equal(version_of_image(".rodata", 10, true, &v), ELF_NONE);
}

static enum ncclras_gate gate(const char *text, uint64_t age_s, bool force, const char *enable)
{
	struct ncclras_wish w = {.job_age_ns = age_s * NS_PER_S, .force = force, .enable = span_of(enable)};
	if (text)
		w.version = version(text);
	return ncclras_allowed(&w);
}

static void ras_is_asked_only_where_that_is_safe(void **state)
{
	(void)state;
	assert_int_equal(gate("2.28.9", 61, false, ""), NCCLRAS_ASK);
	assert_int_equal(gate("2.28.9", 59, false, ""), NCCLRAS_TOO_EARLY);
	assert_int_equal(gate("2.28.7", 600, false, ""), NCCLRAS_TOO_OLD);
	assert_int_equal(gate("2.27.7", 600, false, "1"), NCCLRAS_TOO_OLD);
	assert_int_equal(gate("2.27.7", 6, true, ""), NCCLRAS_ASK);
	assert_int_equal(gate(NULL, 600, false, ""), NCCLRAS_UNKNOWN_AGE);
	assert_int_equal(gate(NULL, 600, true, ""), NCCLRAS_ASK);
	assert_int_equal(gate("2.21.5", 600, true, ""), NCCLRAS_ABSENT);
	assert_int_equal(gate("2.30.1", 600, true, "0"), NCCLRAS_OFF);
	assert_null(ncclras_gate_text(NCCLRAS_ASK));
	for (int g = NCCLRAS_TOO_EARLY; g <= NCCLRAS_OFF; g++)
		assert_non_null(ncclras_gate_text((enum ncclras_gate)g));
}

static void addresses_are_read_as_nccl_does(void **state)
{
	(void)state;
	struct ncclras_address a;
	struct fault f = {.text = ""};
	assert_int_equal(ncclras_address_parse(SPAN(""), &a, &f), 0);
	assert_int_equal(a.n, 2);
	assert_int_equal(ntohs(((struct sockaddr_in *)&a.at[0])->sin_port), 28028);
	assert_int_equal(a.at[1].ss_family, AF_INET6);
	assert_int_equal(ncclras_address_parse(SPAN("10.1.2.3:99"), &a, &f), 0);
	assert_int_equal(a.n, 1);
	assert_int_equal(ntohs(((struct sockaddr_in *)&a.at[0])->sin_port), 99);
	assert_int_equal(ncclras_address_parse(SPAN("[fe80::1]:77"), &a, &f), 0);
	assert_int_equal(ntohs(((struct sockaddr_in6 *)&a.at[0])->sin6_port), 77);
	assert_int_equal(ncclras_address_parse(SPAN("localhost:5"), &a, &f), 0);
	assert_int_equal(a.n, 2);
	assert_int_equal(ncclras_address_parse(SPAN(":5"), &a, &f), 0);
	static const char *const bad[] = {"host.example:1", "1.2.3.4:0", "1.2.3.4:70000", "[::1",
					  "[::1]x",	    "1.2.3:4",	 "1.2.3.4:x"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ncclras_address_parse(span_of(bad[i]), &a, &f), -EINVAL);
	assert_true(f.text[0]);
}

static struct ncclras_report answer(const char *name)
{
	char path[512];
	cleanup(freep) char *text = NULL;
	size_t len;
	struct ncclras_report r = {.n_comms = 0};
	struct fault f = {.text = ""};
	snprintf(path, sizeof(path), "%s/../fuzz/corpus/ncclras/%s", FIXTURES, name);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
	if (ncclras_parse((struct span){text, len}, &r, &f) != 0)
		fail_msg("%s", f.text);
	return r;
}

static void both_forms_of_an_answer_are_read(void **state)
{
	(void)state;
	struct ncclras_report r = answer("behind.json");
	assert_true(r.from_json && !r.cut && !r.n_mended);
	assert_int_equal(r.n_comms, 1);
	assert_int_equal(r.comms[0].n_ranks, 4);
	assert_int_equal(r.comms[0].ranks[3].counts[4], 40);
	assert_int_equal(r.comms[0].ranks[3].pid, 103);
	ncclras_done(&r);
	r = answer("no-comma.json");
	assert_int_equal(r.n_mended, 1);
	assert_true(r.comms[0].ranks[3].is_missing && r.comms[0].ranks[3].unresponsive);
	ncclras_done(&r);
	r = answer("mismatch.txt");
	assert_true(r.is_partial && r.has_dead && !r.cut);
	assert_string_equal(r.version, "2.27.7");
	assert_int_equal(r.comms[0].ranks[2].counts[4], 41);
	assert_int_equal(r.comms[0].ranks[3].counts[4], 40);
	assert_int_equal(r.processes[0].pid, 107);
	const struct ncclras_process_id ours = {.pid = 102}, others = {.pid = 9};
	assert_true(ncclras_is_ours(&r, &ours, 1));
	assert_false(ncclras_is_ours(&r, &others, 1));
	ncclras_done(&r);
	r = answer("incomplete.txt");
	assert_int_equal(r.comms[0].n_ranks, 3);
	assert_true(r.comms[0].ranks[0].is_missing && r.comms[0].ranks[2].finalize);
	ncclras_done(&r);
}

static void other_servers_are_recognised(void **state)
{
	(void)state;
	struct ncclras_report r;
	struct fault f = {.text = ""};
	assert_int_equal(ncclras_parse(SPAN("HTTP/1.1 400 Bad Request\r\n"), &r, &f), NCCLRAS_FOREIGN);
	assert_int_equal(ncclras_parse(SPAN("{\"status\": \"ok\"}"), &r, &f), NCCLRAS_FOREIGN);
	assert_int_equal(ncclras_parse(SPAN(""), &r, &f), NCCLRAS_FOREIGN);
}

static const char *mended(const char *in)
{
	static char text[256];
	struct jsonmend m = {.text = NULL};
	assert_int_equal(jsonmend_text(span_of(in), &m), 0);
	snprintf(text, sizeof(text), "%s%s", m.cut ? "cut " : "", m.text);
	jsonmend_done(&m);
	return text;
}

static void json_is_mended_where_it_is_clear_how(void **state)
{
	(void)state;
	assert_string_equal(mended("{\"a\": 1, \"b\": [1, 2]}"), "{\"a\": 1, \"b\": [1, 2]}");
	assert_string_equal(mended("{\"a\": 1 \"b\": [1 2]}"), "{\"a\": 1 ,\"b\": [1 ,2]}");
	assert_string_equal(mended("[1, 2, ]"), "[1, 2  ]");
	assert_string_equal(mended("{\"a\": [1, 2, 3"), "cut {\"a\": [1, 2]}");
	assert_string_equal(mended("{\"a\": \"b\", \"c"), "cut {\"a\": \"b\"}");
	assert_string_equal(mended("{\"a\": \"b\", \"c\": "), "cut {\"a\": \"b\"}");
	assert_string_equal(mended("{\"a\": \"x\\\"y\", \"c\": {"), "cut {\"a\": \"x\\\"y\", \"c\": {}}");
	struct jsonmend m;
	assert_int_equal(jsonmend_text(SPAN("[1}"), &m), -EBADMSG);
}

static void dumps_are_looked_for_where_they_are_written(void **state)
{
	(void)state;
	struct flightrec_place p;
	flightrec_place(SPAN("HOME=/home/u\0RANK=1"), &p);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.prefix[0], "/home/u/.cache/torch/comm_lib_trace_rank_");
	assert_string_equal(p.prefix[1], "/tmp/nccl_trace_rank_");
	flightrec_place(SPAN("HOME=/home/u\0XDG_CACHE_HOME=/c"), &p);
	assert_string_equal(p.prefix[0], "/c/torch/comm_lib_trace_rank_");
	flightrec_place(SPAN("TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/old_\0TORCH_FR_DUMP_TEMP_FILE=/new_\0"
			     "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/p_\0TORCH_NCCL_TRACE_BUFFER_SIZE=2000"),
			&p);
	assert_true(p.n == 1 && p.named && p.has_buffer && p.buffer_entries == 2000);
	assert_string_equal(p.prefix[0], "/new_");
	assert_string_equal(p.pipe_prefix, "/p_");
	int32_t rank = 0;
	assert_true(flightrec_rank_of("/tmp/nccl_trace_rank_12", &rank) && rank == 12);
	assert_true(flightrec_rank_of("rank_3.json", &rank) && rank == 3);
	assert_false(flightrec_rank_of("/tmp/dump", &rank));
	assert_false(flightrec_rank_of("/tmp/dump99999999999", &rank));
}

static void a_pipe_is_never_waited_for(void **state)
{
	(void)state;
	const struct foreign_place here = {.dirfd = AT_FDCWD};
	char folder[] = "/tmp/vigil-pipe-XXXXXX", prefix[64], path[80];
	assert_non_null(mkdtemp(folder));
	snprintf(prefix, sizeof(prefix), "%s/p", folder);
	snprintf(path, sizeof(path), "%s7.pipe", prefix);
	assert_int_equal(flightrec_ask(&here, prefix, 7), FLIGHTREC_NONE);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(flightrec_ask(&here, prefix, 7), FLIGHTREC_NOBODY);
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	char byte;
	assert_int_equal(flightrec_ask(&here, prefix, 7), 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	/* a full pipe does not block either */
	int r = 0;
	for (int i = 0; i < 1 << 20 && r == 0; i++)
		r = flightrec_ask(&here, prefix, 7);
	assert_int_equal(r, FLIGHTREC_NOBODY);
	close(fd);
	unlink(path);
	assert_int_equal(file_write_at(AT_FDCWD, path, ""), -ENOENT);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(flightrec_ask(&here, prefix, 7), FLIGHTREC_NONE);
	unlink(path);
	rmdir(folder);
}

static void error_files_of_torchrun_are_read(void **state)
{
	(void)state;
	struct elastic_error e[3] = {{.message = ""}};
	struct fault f = {.text = ""};
	static const char first[] = "{\"message\": {\"message\": \"RuntimeError: CUDA error: bad\", \"extraInfo\": "
				    "{\"py_callstack\": \"Traceback:\\n  "
				    "File \\\"/t/record.py\\\", line 3, in wrapper\\n    f()\\n  File "
				    "\\\"/srv/train.py\\\", line 40, in step\\n    "
				    "x()\\n\", \"timestamp\": \"1700000100\"}}}";
	assert_int_equal(elastic_parse(SPAN(first), &e[1], &f), 0);
	assert_string_equal(e[1].message, "RuntimeError: CUDA error: bad");
	assert_string_equal(e[1].where, "/srv/train.py:40 (step)");
	assert_true(e[1].has_time && e[1].time_unix_s == 1700000100 && !e[1].cut);
	assert_int_equal(
		elastic_parse(
			SPAN("{\"message\": {\"message\": \"DistBackendError: x\", \"extraInfo\": {\"timestamp\": "
			     "1700000160}}}"),
			&e[2], &f),
		0);
	assert_int_equal(elastic_parse(SPAN("{\"message\": \"died\"}"), &e[0], &f), 0);
	assert_string_equal(e[0].message, "died");
	assert_int_equal(elastic_parse(SPAN("{\"message\": {\"message\": \"half\", \"extraI"), &e[0], &f), 0);
	assert_true(e[0].cut);
	assert_int_equal(elastic_parse(SPAN("not json"), &e[0], &f), ELASTIC_FOREIGN);
	assert_int_equal(elastic_parse(SPAN(""), &e[0], &f), ELASTIC_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_found),
		cmocka_unit_test(only_the_library_s_own_words_are_its_version),
		cmocka_unit_test(the_version_is_found_among_the_constants),
		cmocka_unit_test(ras_is_asked_only_where_that_is_safe),
		cmocka_unit_test(addresses_are_read_as_nccl_does),
		cmocka_unit_test(both_forms_of_an_answer_are_read),
		cmocka_unit_test(other_servers_are_recognised),
		cmocka_unit_test(json_is_mended_where_it_is_clear_how),
		cmocka_unit_test(dumps_are_looked_for_where_they_are_written),
		cmocka_unit_test(a_pipe_is_never_waited_for),
		cmocka_unit_test(error_files_of_torchrun_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
