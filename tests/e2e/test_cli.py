"""vigil itself: help, manuals, completion, mistakes, the configuration."""
import json
import os
import re
import shutil
import subprocess

import pytest


@pytest.fixture
def here(vigil, tmp_path):
    """vigil called in a project folder of its own, with a user configuration folder of its own."""
    project, user = tmp_path / "project", tmp_path / "user"
    project.mkdir()
    (user / "vigil").mkdir(parents=True)

    def call(*args, env=None, **kwargs):
        return vigil(*args, cwd=project, env={"XDG_CONFIG_HOME": user, **(env or {})}, **kwargs)
    call.project, call.user = project / "vigil.yaml", user / "vigil/vigil.yaml"
    return call


def commands(vigil):
    text = vigil("help").out.decode()
    return re.findall(r"^  ([a-z]+) ", text.partition("Commands:")[2], re.M)


def test_help_lists_the_commands_and_each_explains_itself(vigil):
    names = commands(vigil)
    assert {"run", "why", "jobs", "ps", "show", "events", "logs", "config", "help", "version"} <= set(names)
    for name in names:
        for call in ([name, "--help"], ["help", name], [name, "-h"]):
            result = vigil(*call)
            assert result.status == 0, result
            assert f"Usage: vigil {name}".encode() in result.out
            assert max(len(line) for line in result.out.decode().splitlines()) <= 120, name


def test_version_and_help_are_flags_too(vigil):
    assert vigil("--version").out == vigil("version").out
    assert vigil("--help").out == vigil("help").out


@pytest.mark.parametrize("args, said", [
    ([], "no command given"),
    (["jbos"], "did you mean 'vigil jobs'"),
    (["train.py"], "vigil run -- train.py"),
    (["help", "jbos"], "did you mean 'vigil jobs'"),
    (["help", "--completion", "fish"], "only bash"),
    (["config"], "'check [FILE]' or 'show'"),
    (["config", "chekc"], "'chekc'"),
])
def test_mistakes_give_2_and_a_sentence(vigil, args, said):
    result = vigil(*args)
    assert (result.status, result.out) == (2, b""), result
    assert said in result.text


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_manuals_are_sound_roff(vigil):
    for name in commands(vigil):
        page = vigil("help", "--man", name)
        assert page.status == 0
        done = subprocess.run(["groff", "-Kutf8", "-man", "-ww", "-Tutf8", "-z"], input=page.out, capture_output=True, timeout=30)
        assert done.stderr == b"", (name, done.stderr)


def test_completion_completes(vigil):
    script = vigil("help", "--completion", "bash").out.decode()
    ask = """
COMP_WORDS=(vigil %s) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _vigil; echo "${COMPREPLY[@]}"
"""
    def complete(words):
        done = subprocess.run(["bash", "-c", script + ask % words], capture_output=True, text=True, timeout=20)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout.split()
    assert complete("jo") == ["jobs"]
    assert "--memory-threshold" in complete("run --mem")
    assert "--no-freeze" in complete("run --no")
    assert complete("run --policy n") == ["newest"]
    assert complete("show la") == ["last"]


def test_completion_knows_the_jobs_and_expands_nothing_of_their_names(vigil, tmp_path):
    made = tmp_path / "made"
    for name in ("digits", f"$(touch {made})", "a;b"):
        vigil("run", "--name", name, "--", "true")
    script = vigil("help", "--completion", "bash").out.decode()
    job = vigil("show", "digits", "--json").json()["id"]
    for words, expect in [("show dig", {"digits", job}), ("stack -x '' dig", {"digits", job}), ("why dig", {"digits", job}),
                          ("why nosuch", set())]:
        ask = f"\nCOMP_WORDS=({vigil.binary} {words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _vigil; echo \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, timeout=20, env=vigil.environment())
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert set(done.stdout.split()) == expect, words
    everything = vigil("jobs", "--names").out.decode()
    assert "$" not in everything and ";" not in everything
    assert not made.exists()


# --- configuration

def settings(result):
    assert result.status == 0, result
    return {(s["section"], s["key"]): s for s in map(json.loads, result.out.splitlines())}


def test_flag_beats_environment_beats_project_beats_user(here):
    def nproc(**env):
        return settings(here("config", "show", "--json", env=env))[("run", "retries")]
    assert nproc()["origin"] == "default"
    here.user.write_text("run:\n  retries: 2\n  name: mine\n")
    assert (nproc()["value"], nproc()["origin"]) == ("2", f"{here.user}:2")
    here.project.write_text("# ours\nrun:\n  retries: 3\n")
    assert (nproc()["value"], nproc()["origin"]) == ("3", "vigil.yaml:3")
    assert nproc(VIGIL_RETRIES="4") == {"schema": "vigil.setting/1", "section": "run", "key": "retries", "value": "4",
                                        "origin": "environment: VIGIL_RETRIES"}
    got = settings(here("config", "show", "--json"))
    assert got[("run", "name")]["value"] == "mine"
    result = here("run", "--retries", "nonsense", "--", "true", env={"VIGIL_RETRIES": "4"})
    assert result.status == 125 and "--retries: 'nonsense'" in result.text


def test_the_time_of_the_rule_of_old_is_that_rules_alone(here):
    def after(minutes, **env):
        env["MA_HANG_DETECT_TIME"] = minutes
        got = settings(here("config", "show", "--json", env=env))[("run", "hang-after")]
        return got["value"], got["origin"]
    assert after("30") == ("", "default")
    assert after("1.5", VIGIL_HANG_RULE="io-gpu") == ("90s", "environment: MA_HANG_DETECT_TIME")
    assert after("30", VIGIL_HANG_RULE="io-gpu", VIGIL_HANG_AFTER="5m") == ("5m", "environment: VIGIL_HANG_AFTER")
    assert here("run", "--", "true", env={"MA_HANG_DETECT_TIME": "0"}).status == 0
    result = here("run", "--hang-rule", "io-gpu", "--", "true", env={"MA_HANG_DETECT_TIME": "0"})
    assert result.status == 125 and b"MA_HANG_DETECT_TIME: '0' is no time to wait" in result.err


def test_the_configuration_reaches_the_job(here, vigil):
    here.project.write_text("run:\n  name: fromfile\n")
    assert here("run", "--", "true").status == 0
    assert json.loads(here("jobs", "--json").out.splitlines()[0])["name"] == "fromfile"
    assert here("run", "--name", "fromflag", "--", "true").status == 0
    assert json.loads(here("jobs", "--json").out.splitlines()[0])["name"] == "fromflag"


def test_a_mistake_in_the_configuration_stops_a_run_but_not_a_report(here):
    assert here("run", "--", "true").status == 0
    here.project.write_text("run:\n  retires: 3\n")
    result = here("run", "--", "true")
    assert (result.status, result.out) == (125, b""), result
    assert "vigil.yaml:2:3: unknown key 'retires' in section 'run'; did you mean 'retries'?" in result.text
    here.project.write_text("run: [\n")
    assert here("run", "--", "true").status == 125
    result = here("why")
    assert result.status == 0, result
    assert "left aside" in result.text


def test_a_named_file_replaces_all_others(here, tmp_path):
    here.project.write_text("run:\n  retries: 3\n")
    other = tmp_path / "other.yaml"
    other.write_text("run:\n  name: other\n")
    got = settings(here("config", "show", "--json", env={"VIGIL_CONFIG": other}))
    assert got[("run", "retries")]["origin"] == "default"
    assert got[("run", "name")]["value"] == "other"
    result = here("run", "--", "true", env={"VIGIL_CONFIG": tmp_path / "absent.yaml"})
    assert result.status == 125 and "absent.yaml" in result.text


def test_a_file_named_by_a_flag_replaces_all_others(here, tmp_path):
    here.project.write_text("run: [\n")
    other = tmp_path / "other.yaml"
    other.write_text("run:\n  name: other\n")
    result = here("run", "--config", other, "--", "true", env={"VIGIL_CONFIG": tmp_path / "absent.yaml"})
    assert result.status == 0, result
    assert json.loads(here("jobs", "--json").out.splitlines()[0])["name"] == "other"
    result = here("agent", f"--config={tmp_path / 'absent.yaml'}")
    assert (result.status, result.out) == (2, b"") and "absent.yaml: No such file" in result.text, result
    other.write_text("agent:\n  polcy: newest\n")
    result = here("agent", "--ray", "--config", other)
    assert result.status == 2 and f"{other}:2:3: unknown key 'polcy'" in result.text, result
    # the job's own option of that name is the job's
    here.project.write_text("")
    assert here("run", "--", "echo", "--config", "x").out == b"--config x\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_root_refuses_a_named_file_of_others_in_one_sentence(here, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("agent:\n  ray: yes\n")
    os.chown(other, 65534, 65534)
    for call, env in ((("agent", "--config", other), {}), (("watch", "--ray"), {"VIGIL_CONFIG": other})):
        result = here(*call, env=env)
        assert (result.status, result.out) == (2, b""), result
        assert result.text.strip().splitlines() == [
            f"vigil: the configuration {other} is refused: it belongs to another user, and what it names is started as root"]


def test_config_check_tells_file_line_and_column(here, tmp_path):
    result = here("config", "check")
    assert result.status == 0 and b"no configuration file" in result.out
    file = tmp_path / "mine.yaml"
    file.write_text("run:\n  memory-limit: lots\n")
    result = here("config", "check", file)
    assert result.status == 1, result
    assert f"{file}:2:3: memory-limit: 'lots' is not a size" in result.text
    file.write_text("run:\n  memory-limit: 2G\n")
    assert here("config", "check", file).status == 0
    assert here("config", "check", tmp_path / "absent").status == 4


def test_a_projects_file_may_not_say_where_root_writes(here):
    here.project.write_text("state: /etc/vigil\n")
    result = here("run", "--", "true")
    assert result.status == 125 and "may not choose the state directory" in result.text
    here.project.write_text("agent:\n  policy: newest\n")
    assert here("run", "--", "true").status == 125
    here.project.write_text("run:\n  retries: 1\n")
    here.project.chmod(0o666)
    result = here("run", "--", "true")
    assert result.status == 0 and "everybody may write to it" in result.text


def test_the_users_state_directory_serves_every_command(here, vigil, tmp_path):
    other = tmp_path / "elsewhere"
    here.user.write_text(f"state: {other}\n")
    env = {"VIGIL_STATE_DIR": ""}
    assert here("run", "--", "true", env=env).status == 0
    assert (other / "vigil.db").exists()
    assert len(here("jobs", "--json", env=env).out.splitlines()) == 1
