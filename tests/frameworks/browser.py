"""A real browser without a window, driven over a pipe (Chrome's DevTools protocol, NUL-terminated JSON)."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

import pytest

QUIET = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--mute-audio"]


class Browser:
    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if not program:
            pytest.skip("there is no chromium here; tools/setup frameworks installs it")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def wire():
            os.dup2(to_browser, 13)
            os.dup2(from_browser, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.log = open(folder / "browser.log", "wb")
        self.process = subprocess.Popen([program, *QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder}/profile",
                                         "--window-size=1300,1000", "about:blank"], preexec_fn=wire, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.pending, self.events = 0, b"", []

    def receive(self, deadline):
        while b"\0" not in self.pending:
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser did not answer")
            piece = os.read(self.answers, 1 << 20)
            assert piece, "the browser has ended: " + pathlib.Path(self.log.name).read_text(errors="replace")[-2000:]
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, timeout=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, path, hash=""):
        return Page(self, pathlib.Path(path).as_uri() + hash)

    def close(self):
        try:
            self.call("Browser.close", timeout=10)
            self.process.wait(10)
        except Exception:
            os.killpg(self.process.pid, 9)
            self.process.wait(10)
        os.close(self.commands)
        os.close(self.answers)
        self.log.close()


class Page:
    def __init__(self, browser, url):
        self.browser, self.url = browser, url
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def js(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition, deadline_s=60):
        end = time.monotonic() + deadline_s
        while not self.js(condition):
            assert time.monotonic() < end, f"waited {deadline_s} s for {condition}"
            time.sleep(0.02)

    def events(self, *methods):
        self.js("0")  # what was sent before has arrived then
        return [e["params"] for e in self.browser.events if e.get("sessionId") == self.session and e["method"] in methods]

    def complaints(self):
        """Errors, refusals of the policy, dialogs."""
        logged = [e["entry"]["text"] for e in self.events("Log.entryAdded") if e["entry"]["level"] == "error"]
        thrown = [e["exceptionDetails"]["text"] for e in self.events("Runtime.exceptionThrown")]
        return logged + thrown + self.events("Page.javascriptDialogOpening")

    def requests(self):
        """Addresses asked for, but the page itself."""
        asked = [e["request"]["url"] for e in self.events("Network.requestWillBeSent")]
        return [url for url in asked if url.split("#")[0] != self.url.split("#")[0]]

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                      clickCount=0 if kind == "mouseMoved" else 1)

    def key(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
