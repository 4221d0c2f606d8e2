"""A checkout of somebody else's: the vigil.yaml in it may set how a job is watched, and nothing else."""
import pytest

FAILED = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n1\t:\t1795898391.257\t0.015\t0\t0\t1\t0\ttouch {}\n"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "evil.log").write_text(FAILED.format(tmp_path / "made"))
    (folder / "inputs").write_text("chosen\n")
    return folder


def settings(project, text):
    (project / "vigil.yaml").write_text(text)
    (project / "vigil.yaml").chmod(0o600)
    return {"XDG_CONFIG_HOME": project / "none"}


@pytest.mark.parametrize("lines", (["joblog: evil.log", "retry-failed: true"], ["joblog: ../made"], ["results: ../made"],
                                   ["arg-file: inputs"], ["joblog: evil.log", "resume: true"]), ids=lambda lines: lines[-1].split(":")[0])
def test_it_has_no_commands_run_and_names_no_files(vigil, project, tmp_path, lines):
    env = settings(project, "map:\n" + "".join(f"  {line}\n" for line in lines))
    result = vigil("map", "echo", ":::", "typed", cwd=project, env=env)
    assert not (tmp_path / "made").exists()
    assert result.status == 125 and "a project's vigil.yaml may not name files" in result.text, result
    assert b"chosen" not in result.out


@pytest.mark.parametrize("text", ("state: {}\n", "jobs:\n  state: {}\n"))
def test_it_leads_no_reading_command_to_another_store(vigil, project, tmp_path, text):
    theirs = tmp_path / "theirs"
    assert vigil("run", "--state", theirs, "--name", "forged", "--", "true", cwd=tmp_path).status == 0
    told = vigil("jobs", cwd=project, env={**settings(project, text.format(theirs)), "HOME": tmp_path, "VIGIL_STATE_DIR": ""})
    assert b"forged" not in told.out, told
