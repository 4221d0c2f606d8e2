#include "testing.h"

#include <stdlib.h>

#include "base/buf.h"
#include "model/memory/raynode.h"

#define SESSION "/tmp/ray/session_2026-01-02_03-04-05_6_7"
#define RAYLET                                                                                                         \
	"/v/ray/core/src/ray/raylet/raylet\0--raylet_socket_name=" SESSION "/sockets/raylet\0--node_id=1380c9\0"       \
	"--node_ip_address=10.0.0.7\0--object_store_memory=83886080\0--fallback_directory=" SESSION "\0"               \
	"--session-name=session_2026-01-02_03-04-05_6_7\0"

static struct span argv_of(const char *text, size_t with_end)
{
	return (struct span){text, with_end - 1};
}
#define ARGV(literal) argv_of(literal, sizeof(literal))

static void a_raylet_tells_its_session_its_store_and_where_it_spills(void **state)
{
	(void)state;
	struct raynode n;
	char folder[320];
	assert_true(raynode_of(ARGV(RAYLET), &n));
	assert_string_equal(n.session, "session_2026-01-02_03-04-05_6_7");
	assert_string_equal(n.id, "1380c9");
	assert_string_equal(n.address, "10.0.0.7");
	assert_int_equal(n.store_limit_bytes, 80 << 20);
	raynode_spill_folder(ARGV(RAYLET), folder, sizeof(folder));
	assert_string_equal(folder, SESSION "/ray_spilled_objects_1380c9");
}

static void arguments_of_others_and_of_older_raylets_are_no_surprise(void **state)
{
	(void)state;
	struct raynode n;
	char folder[320];
	assert_false(raynode_of(ARGV("python\0train.py\0"), &n));
	assert_false(raynode_of(ARGV(""), &n));
	assert_true(raynode_of(ARGV("raylet\0--raylet_socket_name=/x\0--object_store_memory=many"), &n));
	assert_int_equal(n.store_limit_bytes, 0);
	assert_string_equal(n.session, "");
	raynode_spill_folder(ARGV("raylet\0--fallback_directory=relative\0"), folder, sizeof(folder));
	assert_string_equal(folder, "");
	raynode_spill_folder(ARGV("raylet\0--fallback_directory=/tmp/s\0"), folder, sizeof(folder));
	assert_string_equal(folder, "/tmp/s/ray_spilled_objects");
}

static void row_add(struct footprint *f, pid_t pid, pid_t ppid, enum role role, const char *command)
{
	struct footprint_row *row = &f->rows[f->n++];
	*row = (struct footprint_row){.pid = pid,
				      .ppid = ppid,
				      .own_bytes = (uint64_t)pid,
				      .rss_bytes = 1000,
				      .has_role = true,
				      .who = {.role = role}};
	TEXT_COPY(row->command, command);
}

static struct footprint node_begin(size_t rows)
{
	struct footprint f = {.rows = calloc(rows, sizeof(*f.rows)), .ray = calloc(FOOTPRINT_RAYS, sizeof(*f.ray))};
	assert_non_null(f.rows);
	assert_non_null(f.ray);
	f.n_rays = 1;
	f.ray[0].raylet = 10;
	TEXT_COPY(f.ray[0].session, "session_2026-01-02_03-04-05_6_7");
	row_add(&f, 10, 5, ROLE_RAY_SYSTEM, "/v/ray/core/src/ray/raylet/raylet --raylet_socket_name=" SESSION);
	return f;
}

static const struct raynode_part *part(const struct raynode *n, const char *kind, const char *name)
{
	for (size_t i = 0; i < n->n_parts; i++)
		if (strcmp(n->part[i].kind, kind) == 0 && strcmp(n->part[i].name, name) == 0)
			return &n->part[i];
	return NULL;
}

static void every_process_counts_to_one_part_of_its_node(void **state)
{
	(void)state;
	struct footprint f = node_begin(16);
	row_add(&f, 11, 10, ROLE_RAY_WORKER, "ray::work");
	row_add(&f, 12, 10, ROLE_RAY_WORKER, "ray::work");
	row_add(&f, 13, 12, ROLE_WORKER, "ray::work"); /* a fork of a worker */
	row_add(&f, 14, 13, ROLE_HELPER, "gzip"); /* and what that started */
	row_add(&f, 15, 10, ROLE_RAY_SYSTEM, "ray::DashboardAgent");
	row_add(&f, 16, 15, ROLE_HELPER, "nvidia-smi");
	row_add(&f, 17, 1, ROLE_RAY_SYSTEM, "/v/ray/core/src/ray/gcs/gcs_server --log_dir=" SESSION "/logs");
	row_add(&f, 18, 1, ROLE_RAY_SYSTEM, "python /v/ray/dashboard/dashboard.py --log-dir=" SESSION "/logs");
	row_add(&f, 19, 18, ROLE_HELPER, "python -c from multiprocessing.forkserver import main");
	row_add(&f, 20, 19, ROLE_RAY_SYSTEM, "ray-dashboard-NodeHead-0 (python -c from multiprocessing)");
	row_add(&f, 21, 1, ROLE_RAY_SYSTEM,
		"/v/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp/ray/session_of_another/logs");
	row_add(&f, 22, 1, ROLE_MAIN, "python train.py");
	row_add(&f, 23, 10, ROLE_HELPER, "conda");
	raynode_settle(&f);
	raynode_settle(&f); /* counts anew */
	const struct raynode *n = &f.ray[0];
	assert_int_equal(part(n, "worker", "work")->processes, 4);
	assert_int_equal(part(n, "worker", "work")->own_bytes, 11 + 12 + 13 + 14);
	assert_int_equal(part(n, "agent", "DashboardAgent")->processes, 2);
	assert_int_equal(part(n, "gcs_server", "gcs_server")->own_bytes, 17);
	assert_int_equal(part(n, "dashboard", "dashboard")->processes, 3);
	assert_int_equal(part(n, "raylet", "raylet")->own_bytes, 10);
	assert_int_equal(part(n, "other", "other programs")->own_bytes, 23);
	assert_int_equal(n->n_parts, 6);
	for (size_t i = 1; i < n->n_parts; i++)
		assert_true(n->part[i - 1].own_bytes >= n->part[i].own_bytes);
	footprint_done(&f);
}

static void workers_of_more_names_than_there_is_room_for_are_added_up(void **state)
{
	(void)state;
	struct footprint f = node_begin(100);
	for (pid_t i = 0; i < 80; i++) {
		char title[32];
		TEXT_FORMAT(title, "ray::task_%d", (int)i);
		row_add(&f, 100 + i, 10, ROLE_RAY_WORKER, title);
	}
	raynode_settle(&f);
	size_t all = 0;
	for (size_t i = 0; i < f.ray[0].n_parts; i++)
		all += f.ray[0].part[i].processes;
	assert_int_equal(f.ray[0].n_parts, RAYNODE_PARTS);
	assert_int_equal(all, 81);
	assert_int_equal(part(&f.ray[0], "worker", "(others)")->processes, 81 - (RAYNODE_PARTS - 1));
	footprint_done(&f);
}

static void parents_that_name_each_other_end_the_search(void **state)
{
	(void)state;
	struct footprint f = node_begin(8);
	row_add(&f, 31, 32, ROLE_RAY_WORKER, "ray::a");
	row_add(&f, 32, 31, ROLE_RAY_WORKER, "ray::b");
	raynode_settle(&f);
	assert_int_equal(f.ray[0].n_parts, 1);
	footprint_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_raylet_tells_its_session_its_store_and_where_it_spills),
		cmocka_unit_test(arguments_of_others_and_of_older_raylets_are_no_surprise),
		cmocka_unit_test(every_process_counts_to_one_part_of_its_node),
		cmocka_unit_test(workers_of_more_names_than_there_is_room_for_are_added_up),
		cmocka_unit_test(parents_that_name_each_other_end_the_search),
	};
	return cmocka_run_group_tests_name("model/memory/raynode", tests, NULL, NULL);
}
