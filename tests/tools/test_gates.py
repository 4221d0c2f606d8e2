"""Each gate passes on this tree and fails, by name and place, on a small bad one."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def gate(name, *args):
    done = subprocess.run([sys.executable, str(ROOT / "tools" / f"{name}.py"), *map(str, args)],
                          text=True, capture_output=True, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout


def tree(folder, **files):
    """tree(tmp, src__judge__a_c="...") writes src/judge/a.c."""
    for key, text in files.items():
        stem, suffix = key.replace("__", "/").rsplit("_", 1)
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


# --- layers

@pytest.mark.parametrize("where, include, complaint", [
    ("src__judge__a_c", '#include "sense/proc.h"', "judge may not include"),
    ("src__judge__a_c", '#include "base/base.h"\n#include "act/kill.h"', "src/judge/a.c:2"),
    ("src__base__a_c", '#include "model/job.h"', "base may not include"),
    ("src__sense__a_h", '#include "model/job.h"', "sense may not include"),
    ("src__tell__a_c", '#include "sense/proc.h"', "tell may not include"),
    ("src__act__a_c", '#include "judge/guard.h"', "act may not include"),
    ("src__agent__a_c", '#include "cli/options/option.h"', "agent may not include"),
    ("src__base__a_c", '#include "text.h"', "does not say its layer"),
    ("src__base__a_c", '#include <unheard_of.h>', "belongs to no library"),
    ("src__base__a_h", '#include <jansson.h>', "in a header"),
    ("src__judge__a_c", '#include "preload/heapregion.h"', "judge may not include"),
    ("src__sense__a_c", '#include "preload/hooks.h"', "sense may not include"),
    ("preload__a_c", '#include "base/text.h"', "preload/a.c:1"),
    ("preload__a_c", '#include <zlib.h>', "uses libc only"),
    ("src__extra__a_c", '#include <stdio.h>', "there is no layer 'extra'"),
    ("src__agent__guard__a_c", '#include "agent/run/supervise.h"', "the room agent/run stands above it"),
    ("src__sense__log__a_h", '#include "sense/death/facts.h"', "the room sense/death stands above it"),
    ("src__sense__a_h", '#include "sense/proc/proc.h"', "the room sense/proc stands above it"),
    ("src__model__parlour__a_c", '#include <stdio.h>', "knows no room 'parlour' in model"),
    ("src__judge__a_c", '#include <stdio.h>', "knows no room '' in judge"),
    ("src__cli__sub__a_c", '#include <stdio.h>', "knows no room 'sub' in cli"),
])
def test_layers_refuses(tmp_path, where, include, complaint):
    status, out = gate("layers", "--root", tree(tmp_path, **{where: include + "\n"}))
    assert status == 1
    assert complaint in out


def test_layers_takes_includes_down_the_rooms(tmp_path):
    tree(tmp_path, src__agent__run__a_c='#include "agent/guard/guardproc.h"\n#include "agent/run/super.h"\n',
         src__sense__net__a_c='#include "sense/world.h"\n')
    assert gate("layers", "--root", tmp_path) == (0, "\n")


def test_layers_refuses_a_second_user_of_a_library(tmp_path):
    tree(tmp_path, src__tell__store__a_c="#include <sqlite3.h>\n")
    assert gate("layers", "--root", tmp_path) == (0, "\n")
    tree(tmp_path, src__tell__store__b_c="#include <sqlite3.h>\n")
    status, out = gate("layers", "--root", tmp_path)
    assert status == 1
    assert "sqlite3 is included by 2 files" in out


def test_layers_takes_reasoned_exceptions_and_refuses_stale_ones(tmp_path):
    tree(tmp_path, src__judge__host__a_c='#include "sense/proc.h"\n',
         tools__layers_ini="[allow]\njudge/host/a.c = sense/proc.h: the type of a sample\n")
    assert gate("layers", "--root", tmp_path) == (0, "\n")
    tree(tmp_path, src__judge__host__a_c='#include "base/base.h"\n')
    status, out = gate("layers", "--root", tmp_path)
    assert status == 1
    assert "no longer needed" in out
    tree(tmp_path, tools__layers_ini="[allow]\njudge/host/a.c = sense/proc.h\n")
    assert "expected 'file = header: reason'" in gate("layers", "--root", tmp_path)[1]


# --- purity

def archive(folder, layer, **sources):
    objects = []
    for name, text in sources.items():
        source = folder / f"{name}.c"
        source.write_text(text)
        objects.append(folder / f"{name}.c.o")
        subprocess.run(["gcc", "-O0", "-c", source, "-o", objects[-1]], check=True)
    path = folder / f"lib{layer}.a"
    path.unlink(missing_ok=True)
    subprocess.run(["ar", "rcsT", path, *objects], check=True)
    return f"{layer}={path}"


BASE = {"text": "int text_len(const char *s) { return s[0] != 0; }",
        "clock": "#include <time.h>\nlong clock_now(void) { return time(0); }"}


def pure(folder, judge, model=None):
    args = [archive(folder, "base", **BASE), archive(folder, "model", **(model or {"job": "int job_n;"})),
            archive(folder, "judge", **judge)]
    return gate("pure", *(part for a in args for part in ("--archive", a)))


def test_pure_takes_computation(tmp_path):
    judge = {"guard": "#include <string.h>\nint text_len(const char *);\n"
                      "int guard(const char *s) { return (int)strlen(s) + text_len(s); }"}
    assert pure(tmp_path, judge) == (0, "\n")


@pytest.mark.parametrize("body, symbol", [
    ("#include <time.h>\nlong f(void) { struct timespec t; clock_gettime(0, &t); return t.tv_sec; }", "clock_gettime"),
    ("#include <unistd.h>\nint f(void) { return (int)getpid(); }", "getpid"),
    ("#include <stdio.h>\nint f(void) { return puts(\"a\"); }", "puts"),
    ("#include <stdio.h>\nvoid *f(void) { return fopen(\"a\", \"r\"); }", "fopen"),
    ("long clock_now(void);\nlong f(void) { return clock_now(); }", "clock_now"),
    ("#include <stdlib.h>\nchar *f(void) { return getenv(\"A\"); }", "getenv"),
])
def test_pure_refuses(tmp_path, body, symbol):
    status, out = pure(tmp_path, {"cause": body})
    assert status == 1
    assert f"judge/cause.c uses {symbol}" in out


def test_pure_refuses_allocation_on_the_guard_path_only(tmp_path):
    allocates = "#include <stdlib.h>\nvoid *job_copy(void) { return malloc(3); }"
    assert pure(tmp_path, {"cause": allocates.replace("job_copy", "f")}) == (0, "\n")
    status, out = pure(tmp_path, {"victim": allocates.replace("job_copy", "f")})
    assert status == 1 and "judge/victim.c uses malloc" in out
    # Not directly, but through another object.
    guard = {"guard": "void *job_copy(void);\nvoid *guard(void) { return job_copy(); }"}
    status, out = pure(tmp_path, guard, {"job": allocates})
    assert status == 1 and "model/job.c uses malloc" in out


# --- sizes

def test_sizes_takes_what_fits_and_refuses_what_does_not(tmp_path):
    body = "int f(void)\n{\n" + "\t;\n" * 96 + "\treturn 0;\n}\n"
    assert gate("sizes", "--root", tree(tmp_path, src__base__a_c=body)) == (0, "\n")
    tree(tmp_path, src__base__a_c=body.replace("\treturn", "\t;\n\treturn"))
    status, out = gate("sizes", "--root", tmp_path)
    assert status == 1
    assert "src/base/a.c:1: f has 101 lines" in out


@pytest.mark.parametrize("where, lines, complaint", [
    ("src__base__a_c", 901, "901 lines, at most 900"),
    ("tests__e2e__test_a_py", 901, "901 lines, at most 900"),
    ("src__base__a_h", 201, "201 lines, at most 200"),
])
def test_sizes_refuses_long_files(tmp_path, where, lines, complaint):
    status, out = gate("sizes", "--root", tree(tmp_path, **{where: "\n" * lines}))
    assert status == 1
    assert complaint in out


def test_sizes_refuses_crowded_folders(tmp_path):
    files = {f"src__sense__proc__f{i}_c": "int x;\n" for i in range(25)}
    assert gate("sizes", "--root", tree(tmp_path, **files)) == (0, "\n")
    status, out = gate("sizes", "--root", tree(tmp_path, src__sense__proc__one_more_c="int x;\n"))
    assert status == 1 and "src/sense/proc: 26 C files, at most 25" in out


# --- words

@pytest.mark.parametrize("line, complaint", [
    ('int fd = open("/proc/self/stat", 0);', '"/proc/self/stat"'),
    ('text_format(p, n, "/proc/%d/statm", pid);', '"/proc/%d/statm"'),
    ('open("/sys/fs/cgroup", 0);', '"/sys/fs/cgroup"'),
    ("/* TODO later */", "TODO"),
    ("int a; // FIXME", "FIXME"),
])
def test_words_refuses(tmp_path, line, complaint):
    status, out = gate("words", "--root", tree(tmp_path, src__sense__a_c="int x;\n" + line + "\n"))
    assert status == 1
    assert "src/sense/a.c:2" in out and complaint in out


def test_words_takes_comments_messages_and_the_opener(tmp_path):
    tree(tmp_path, src__agent__host__world_open_c='int f = open("/proc", 0);\n',
         src__sense__a_c='/* "/proc/self" is read by */\nconst char *m = "cannot read /proc/meminfo: %s";\n')
    assert gate("words", "--root", tmp_path) == (0, "\n")


def test_words_refuses_a_link_that_leads_out_of_the_tree(tmp_path):
    tree(tmp_path, docs__a_md="x\n")
    (tmp_path / "docs/inside").symlink_to("a.md")
    assert gate("words", "--root", tmp_path) == (0, "\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web/node_modules").symlink_to("/nowhere/web/node_modules")
    status, out = gate("words", "--root", tmp_path)
    assert status == 1 and "web/node_modules: a link to /nowhere" in out, out


def test_words_refuses_the_path_of_this_machine(tmp_path):
    status, out = gate("words", "--root", tree(tmp_path, docs__a_md=f"see {tmp_path}/build\n"))
    assert status == 1
    assert "docs/a.md: names this machine's path" in out


# --- columns

def test_columns_counts_a_tab_as_eight_and_comments_too(tmp_path):
    tree(tmp_path, src__base__a_c="\t" + "x" * 112 + "\n", tests__unit__b_c="/* " + "é" * 114 + " */\n")
    assert gate("columns", "--root", tmp_path) == (0, "\n")
    tree(tmp_path, src__base__a_c="\t" + "x" * 113 + "\n", tests__unit__b_c="/* " + "é" * 115 + " */\n")
    status, out = gate("columns", "--root", tmp_path)
    assert status == 1
    assert "src/base/a.c:1: 121 columns" in out and "tests/unit/b.c:1: 121 columns" in out


# --- names

PRIVATE = "static int look(void)\n{\n\treturn 1;\n}\nint %s(void);\nint %s(void)\n{\n\treturn look();\n}\n"
USER = "int a(void);\nint b(void);\nint c(void);\nint main(void)\n{\n\treturn a() + b() + c();\n}\n"


def test_names_refuses_a_private_name_in_three_files_and_takes_two(tmp_path):
    tree(tmp_path, src__base__a_c=PRIVATE % ("a", "a"), src__base__b_c=PRIVATE % ("b", "b"), src__cli__main_c=USER,
         src__base__c_c="int c(void);\nint c(void)\n{\n\treturn 2;\n}\n")
    assert gate("names", "--root", tmp_path) == (0, "\n")
    tree(tmp_path, src__base__c_c=PRIVATE % ("c", "c"))
    status, out = gate("names", "--root", tmp_path)
    assert status == 1
    assert "src/base/a.c: static look() stands in 3 files" in out and "src/base/c.c: static look()" in out


@pytest.mark.parametrize("other, test, complaint", [
    ("", "", "a() is called by nobody"),
    ("", "int t(void)\n{\n\treturn a();\n}\n", "a() is called by tests only"),
    ("int b(void)\n{\n\treturn 1;\n}\n", "", "a() is called by nobody"),
    ("/* a() */ const char *s = \"a()\";\nint a(void);\n", "", "a() is called by nobody"),
])
def test_names_refuses_functions_that_the_product_does_not_call(tmp_path, other, test, complaint):
    tree(tmp_path, src__base__a_c="int a(void)\n{\n\treturn 1;\n}\n", src__base__b_c=other, tests__unit__t_c=test)
    status, out = gate("names", "--root", tmp_path)
    assert status == 1
    assert complaint in out


def test_names_wants_static_where_only_the_own_file_calls(tmp_path):
    own = "int a(void)\n{\n\treturn 1;\n}\nint main(void)\n{\n\treturn a();\n}\n"
    tree(tmp_path, src__base__a_c=own)
    assert "a() is used in this file only, and by no test" in gate("names", "--root", tmp_path)[1]
    tree(tmp_path, tests__unit__t_c="int t(void)\n{\n\treturn a();\n}\n")
    assert gate("names", "--root", tmp_path) == (0, "\n")


def test_names_takes_reasoned_exceptions_and_refuses_stale_ones(tmp_path):
    tree(tmp_path, src__base__a_c="int a(void)\n{\n\treturn 1;\n}\n", tools__names_ini="a: another program calls it\n")
    assert gate("names", "--root", tmp_path) == (0, "\n")
    tree(tmp_path, src__base__b_c="int a(void);\nint main(void)\n{\n\treturn a();\n}\n")
    assert "'a' is no longer needed" in gate("names", "--root", tmp_path)[1]
    tree(tmp_path, tools__names_ini="a\n")
    assert "expected 'function: reason'" in gate("names", "--root", tmp_path)[1]


# --- foreign names

@pytest.mark.parametrize("body, complaint", [
    ("\tint fd = open(path, O_RDONLY);", "f: open(path, O_RDONLY...)"),
    ("\tint fd = openat(dir, e->d_name, O_RDONLY);", "f: openat(dir, e->d_name...)"),
    ("\tFILE *to = fopen(name(a, b), \"r\");", "f: fopen(name(a, b), \"r\"...)"),
    ("\tchown(folder, uid, gid);", "f: chown(folder, uid...)"),
    ("\tif (mkdir(folder, 0700) < 0)\n\t\treturn;", "f: mkdir(folder, 0700...)"),
    ("\t(void)symlink(\"/a\", link);", "f: symlink(\"/a\", link...)"),
    ("\trename(from, to);", "f: rename(from, to...)"),
    ("\topendir(dir);", "f: opendir(dir...)"),
    ("\tstat(path, &st);", "f: stat(path, &st...)"),
    ("\tconnect(fd, to, len);", "f: connect(fd, to...)"),
    ("\tfile_slurp(AT_FDCWD, path, 9, &t, &n);", "f: file_slurp(AT_FDCWD, path...)"),
    ("\topenat(dirfd(d), \"data\", O_RDONLY);", "f: openat(dirfd(d), \"data\"...)"),
    ("\tTEXT_FORMAT(path, \"%d/root/%s\", pid, rest);", "is a name below what a process chose"),
    ("\tTEXT_FORMAT(path, \"%d/cwd\", pid);", "is a name below what a process chose"),
    ("\tTEXT_FORMAT(path, \"%d/fd/%d\", pid, fd);", "is a name below what a process chose"),
    ("\tTEXT_FORMAT(path, \"/proc/%ld/map_files/%llx\", pid, at);", "is a name below what a process chose"),
])
def test_foreign_refuses_names_of_others(tmp_path, body, complaint):
    tree(tmp_path, src__sense__a_c="static void e(void)\n{\n}\n\nstatic void f(const char *path)\n{\n" + body + "\n}\n")
    status, out = gate("foreign", "--root", tmp_path)
    assert status == 1
    assert "src/sense/a.c:7: f: " in out and complaint in out


@pytest.mark.parametrize("body", [
    "\topen(\"/dev/null\", O_RDWR);",
    "\topenat(fd, \".\", O_RDONLY);",
    "\t/* open(path) and \"%d/root\" */ // stat(path)",
    "\tlog_error(\"open(path) failed\");",
    "\tbackend->open(path);\n\tp.stat(path, &st);\n\treopen(path);",
    "\tTEXT_FORMAT(path, \"%d/fdinfo/%d\", pid, fd);",
    "\tfstat(fd, &st);",
])
def test_foreign_takes_names_of_the_source(tmp_path, body):
    tree(tmp_path, src__sense__a_c="static void f(const char *path)\n{\n" + body + "\n}\n")
    assert gate("foreign", "--root", tmp_path) == (0, "\n")


def test_foreign_does_not_look_behind_the_door(tmp_path):
    tree(tmp_path, src__base__foreign_c="int f(const char *path)\n{\n\treturn open(path, 0);\n}\n")
    assert gate("foreign", "--root", tmp_path) == (0, "\n")


def test_foreign_takes_reasoned_exceptions_and_refuses_stale_ones(tmp_path):
    opens = "int f(const char *path)\n{\n\treturn open(path, 0);\n}\n"
    tree(tmp_path, src__tell__store__a_c=opens, src__cli__b_c=opens,
         src__sense__c_c="int f(struct world *w, const char *path)\n{\n\treturn openat(w->proc_fd, path, 0);\n}\n",
         tools__foreign_ini="[descriptors]\nproc_fd: the kernel's\n[files]\ntell/store/*.c: our own\n"
                            "[functions]\ncli/b.c f: typed\n")
    assert gate("foreign", "--root", tmp_path) == (0, "\n")
    for name in ("src/tell/store/a.c", "src/cli/b.c", "src/sense/c.c"):
        (tmp_path / name).write_text("int f(void);\n")
    out = gate("foreign", "--root", tmp_path)[1]
    for entry in ("proc_fd", "tell/store/*.c", "cli/b.c f"):
        assert f"'{entry}' is no longer needed" in out
    tree(tmp_path, tools__foreign_ini="[files]\ncli/b.c\n")
    assert "expected 'entry: reason'" in gate("foreign", "--root", tmp_path)[1]
