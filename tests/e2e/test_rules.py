"""vigil rules: what matches where, the verdict, and mistakes in rules of one's own."""
import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

LOG = """starting
[rank0]:[E1120 10:04:41.1] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=4
\x1b[31m[rank3]: RuntimeError: DataLoader timed out after 60 seconds\x1b[0m
"""
RULE = """rule mine
    source: log
    role: root
    confidence: high
    blame: self
    all: flux capacitor
    extract rank: unit ([0-9]+)
    cause: The flux capacitor of unit {rank} is empty.
    advice: Fill it.
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.log"
    path.write_text(LOG)
    return path


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def test_each_match_and_the_verdict_are_told(vigil, log):
    result = vigil("rules", "test", log)
    assert result.status == 0, result
    text = result.out.decode()
    assert f"{log}:2: collective_timeout (cascade), rank 0" in text
    assert f"{log}:3: loader_timeout (root), rank 3" in text
    assert "verdict: loader_timeout (root, confidence medium)" in text
    assert "culprit ranks: 3" in text


def test_json_has_a_line_for_each_match_and_one_for_the_verdict(vigil, log):
    rows = lines(vigil("rules", "test", log, "--json"))
    assert [r["schema"] for r in rows] == ["vigil.rule_match/1"] * 2 + ["vigil.rule_verdict/1"]
    assert rows[0]["values"] == {"rank": "0", "seq": "9", "what": "ALLREDUCE"} and rows[0]["line"] == 2
    assert rows[2]["cause"] == "loader_timeout" and rows[2]["culprit_ranks"] == [3]
    assert rows[2]["also"] == ["collective_timeout"] and rows[2]["matches"] == 2


def test_both_engines_say_the_same(vigil, tmp_path):
    own = vigil("rules", "test", ROOT / "tests/fixtures/rules/log.log", "--engine", "own")
    hyper = vigil("rules", "test", ROOT / "tests/fixtures/rules/log.log", "--engine", "hyperscan")
    if hyper.status == 5:
        pytest.skip("Hyperscan is not installed")
    assert own.status == 0 and own.out == hyper.out


def test_a_pipe_of_the_kernel_s_log_is_read(vigil):
    result = vigil("rules", "test", "-", "--source", "kmsg",
                   input=b"[ 1.000000] NVRM: Xid (PCI:0000:05:00): 79, pid=7, GPU has fallen off the bus.\n")
    assert b"verdict: gpu_lost (root, confidence high)" in result.out, result


def test_the_time_out_of_infiniband_is_computed(vigil, tmp_path):
    log = tmp_path / "log"
    log.write_text("NET/IB: Got completion from peer n2<1> with status=12 opcode=1 len=0 vendor err 129 hca mlx5_0\n")
    result = vigil("rules", "test", log, "--fact", "NCCL_IB_TIMEOUT=22,ib_ack_timeouts")
    assert b"4.096 us x 2^22 x 7 = 120 s" in result.out and b"confidence high" in result.out, result


def test_nccl_s_version_in_the_log_says_what_it_takes_by_itself(vigil, tmp_path):
    log = tmp_path / "log"
    log.write_text("h:61:61 [0] NCCL INFO NCCL version 2.19.3+cuda12.1\n"
                   "NET/IB: Got completion from peer n2<1> with status=12 opcode=1 len=0 vendor err 129 hca mlx5_0\n")
    assert b"4.096 us x 2^18 x 7" in vigil("rules", "test", log, "--fact", "ib_ack_timeouts").out
    result = vigil("rules", "test", log, "--fact", "ib_ack_timeouts,NCCL_VERSION=2.24.1")
    assert b"4.096 us x 2^20 x 7" in result.out, "who says it knows better"


def test_own_rules_come_from_the_flag_and_the_configuration(vigil, tmp_path):
    rules, log, config = tmp_path / "own.rules", tmp_path / "log", tmp_path / "vigil.yaml"
    rules.write_text(RULE)
    log.write_text("the flux capacitor of unit 7 failed\n")
    config.write_text(f"rules: [{rules}]\n")
    assert b"verdict: none; 0 matches" in vigil("rules", "test", log).out
    for result in (vigil("rules", "test", log, "--rules", rules), vigil("rules", "test", log, env={"VIGIL_CONFIG": config})):
        assert b"The flux capacitor of unit 7 is empty." in result.out and b"culprit ranks: 7" in result.out, result
    assert vigil("config", "check", config).status == 0


@pytest.mark.parametrize("broken, place, words", [
    (RULE.replace("capacitor\n", "capacitor(\n"), "6:25", "( without )"),
    (RULE.replace("role: root", "role: rot"), "3:11", "expected one of: root, cascade, confirmation"),
    (RULE.replace("    cause:", "    case:"), "8:5", "expected one of"),
    ("nothing\n", "1:1", "expected 'rule NAME' or 'key: value'"),
    (RULE.replace("flux capacitor", "[0-9]+"), "1:1", "4 plain characters"),
    (RULE.replace("unit {rank} is", "{unit} {a b} is"), "8:34", "'{unit}'"),
    (RULE.replace("Fill it.", "Fill {what} and {ib_timeout_23}."), "9:29", "'{ib_timeout_23}'"),
    (RULE + "    need: raise rule nowhere\n", "1:1", "nowhere"),
])
def test_a_mistake_has_its_line_and_column(vigil, tmp_path, broken, place, words):
    rules = tmp_path / "own.rules"
    rules.write_text(broken)
    for result in (vigil("rules", "check", rules), vigil("rules", "test", "/dev/null", "--rules", rules)):
        assert result.status == 1 and f"{rules}:{place}: " in result.text and words in result.text, result


def test_files_that_cannot_be_read_are_named(vigil, tmp_path):
    absent = vigil("rules", "test", tmp_path / "absent")
    assert absent.status == 4 and b"verdict" not in absent.out, absent
    folder = vigil("rules", "test", tmp_path)
    assert folder.status == 2 and "this is a folder" in folder.text and b"verdict" not in folder.out, folder
    assert vigil("rules", "check", tmp_path).status == 2
    (tmp_path / "log").write_text("nothing\n")
    some = vigil("rules", "test", tmp_path / "absent", tmp_path / "log")
    assert some.status == 4 and b"verdict: none" in some.out, "what could be read is judged"
    assert vigil("rules", "check", tmp_path / "absent").status == 4
    assert vigil("rules").status == 2


def test_the_book_is_listed(vigil):
    rows = lines(vigil("rules", "list", "--json"))
    assert len(rows) >= 70 and {r["schema"] for r in rows} == {"vigil.rule/1"}


def test_a_job_s_own_log_names_the_cause_of_its_end(vigil):
    program = "import sys; print('NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000', file=sys.stderr); sys.exit(3)"
    result = vigil("run", "--", "/usr/bin/python3", "-c", program)
    assert result.status == 3
    report = vigil.why()
    assert report["cause"]["id"] == "duplicate_gpu" and report["kind"] == "error_exit", report
    assert any("Duplicate GPU" in e["text"] for e in report["evidence"])


def test_a_consequence_does_not_name_the_cause(vigil):
    program = "import sys; print('Failed to recv, got 0 bytes. Connection was likely closed.', file=sys.stderr); sys.exit(3)"
    assert vigil("run", "--", "/usr/bin/python3", "-c", program).status == 3
    report = vigil.why()
    assert report["cause"]["id"] not in ("store_lost", "duplicate_gpu")


def test_wrong_rules_stop_a_job_before_it_begins(vigil, tmp_path):
    """They were passed over without a word, and missed when the job had died."""
    rules, config, mark = tmp_path / "own.rules", tmp_path / "vigil.yaml", tmp_path / "began"
    rules.write_text(RULE.replace("role: root", "role: rot"))
    config.write_text(f"rules: [{rules}]\n")
    for result in (vigil("run", "--rules", rules, "--", "touch", mark),
                   vigil("run", "--", "touch", mark, env={"VIGIL_CONFIG": config})):
        assert result.status == 125 and f"{rules}:3:11: " in result.text, result
        assert len([line for line in result.text.splitlines() if line]) == 1 and not mark.exists()
    absent = vigil("run", "--rules", tmp_path / "absent", "--", "touch", mark)
    assert absent.status == 125 and "cannot read the rules" in absent.text and not mark.exists()
    os.mkfifo(tmp_path / "fifo")
    for other in (tmp_path / "fifo", tmp_path): # nobody writes to it: reading it would not end
        refused = vigil("run", "--rules", other, "--", "touch", mark)
        assert refused.status == 125 and f"the rules {other} are not a plain file" in refused.text and not mark.exists()
    rules.write_text(RULE)
    assert vigil("run", "--rules", rules, "--", "touch", mark).status == 0 and mark.exists()


def test_wrong_rules_stop_watch_and_agent(vigil, tmp_path):
    rules = tmp_path / "own.rules"
    rules.write_text("rule x\nnothing\n")
    for words in (("watch", "--pid", "1"), ("agent", "--command", "nobody-is-called-so")):
        result = vigil(*words, "--rules", rules)
        assert result.status == 2 and f"{rules}:2:1: " in result.text and "nothing is watched" in result.text, result


def test_a_job_without_the_cause_book_is_told_so_at_its_start(vigil, tmp_path):
    """It was found out only from the report of a hang, which cut the reason off."""
    result = vigil("run", "--", "true", env={"VIGIL_DATA_DIR": tmp_path})
    assert result.status == 0
    assert f"vigil's own rules are not in {tmp_path}/rules; set VIGIL_DATA_DIR" in result.text, result
    assert "own rules" not in vigil("run", "--", "true").text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up a right of root's")
def test_a_file_that_may_not_be_read_is_not_called_another_users_pipe(vigil):
    """EPERM and "a FIFO of another user's" shared a number."""
    result = vigil("rules", "test", "/proc/1/syscall", prefix=("setpriv", "--bounding-set=-sys_ptrace"))
    assert result.status == 3 and "not permitted" in result.text and "FIFO" not in result.text, result
