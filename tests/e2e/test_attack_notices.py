"""Root's vigil works with notices in the state directory of a user."""
import json
import os
import signal
import time

import pytest

from conftest import wait_for
from notifykit import CRASH, channels, server  # noqa: F401
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401
from test_attack_state import theirs  # noqa: F401
from test_notify import deliverers

pytestmark = needs_root
FORGED = {"schema": "vigil.notice/1", "id": "forged", "key": "forged", "state": "firing", "count": 1, "kind": "crash",
          "severity": "critical", "title": "forged by the user", "time_unix_ms": 1}


@pytest.fixture
def env(vigil, server, channels, theirs):  # noqa: F811
    yield channels([{"name": "ops", "kind": "webhook", "url": server.url, "group-wait": "0s"}])
    for pid in deliverers(vigil):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def spool(theirs):  # noqa: F811
    folder = theirs / "notify"
    folder.mkdir(exist_ok=True)
    os.chown(folder, ATTACKER, ATTACKER)
    return folder


def name_of(number):
    return f"n-{int(time.time() * 1000):014d}-77-{number:06d}-ops.json"


def users_own(path):
    os.chown(path, ATTACKER, ATTACKER, follow_symlinks=False)
    return path


def forge(spool):
    path = spool / name_of(1)
    path.write_text(json.dumps(FORGED))
    return users_own(path)


@pytest.mark.parametrize("word", ["spool", "flush"])
def test_root_is_told_that_the_user_can_change_what_waits(vigil, env, spool, word):
    told = vigil("notify", word, env=env)
    assert f"user {ATTACKER} can change".encode() in told.err, told


def test_a_notice_that_the_user_wrote_is_not_sent_by_root(vigil, env, server, spool):  # noqa: F811
    forged = forge(spool)
    told = vigil("notify", "flush", env=env)
    assert told.status == 0 and b"0 messages delivered" in told.out, told
    assert not server.got
    assert forged.exists()


def test_nor_one_behind_a_link(vigil, env, server, spool, place):  # noqa: F811
    kept = place / "kept.json"
    kept.write_text(json.dumps(FORGED))
    (spool / name_of(2)).symlink_to(kept)
    vigil("notify", "flush", env=env)
    assert not server.got


def test_nor_from_a_folder_behind_a_link(vigil, env, server, theirs, place):  # noqa: F811
    elsewhere = place / "notify"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / name_of(3)).write_text(json.dumps(FORGED))
    (theirs / "notify").symlink_to(elsewhere)
    vigil("notify", "flush", env=env)
    assert not server.got
    assert len(list(elsewhere.iterdir())) == 1


@pytest.mark.parametrize("name", ["notice", "channel-ops.json", "channel-ops.json.new", "lock", "lock-ops"])
def test_no_fifo_holds_root(vigil, env, server, spool, name):  # noqa: F811
    name = name_of(4) if name == "notice" else name
    os.mkfifo(spool / name)
    users_own(spool / name)
    own = spool / name_of(5)
    own.write_text(json.dumps({**FORGED, "title": "root's own"}))
    own.chmod(0o600)
    told = vigil("notify", "flush", env=env, timeout=20)
    assert told.status in (0, 5), told
    vigil("notify", "spool", env=env, timeout=20)


def test_what_delivers_root_s_notices_ends(vigil, env, server, spool):  # noqa: F811
    for name in (name_of(6), "channel-ops.json"):
        os.mkfifo(spool / name)
        users_own(spool / name)
    assert vigil("run", "--", *CRASH, env=env).status == 139
    wait_for(lambda: server.got, 20, "root's own notice")
    wait_for(lambda: not deliverers(vigil), 30, "those that deliver to end")
