"""A headless Chromium, spoken to through its own debugging pipe: real keys, real pixels, and what the console says.

Nothing but Debian's `chromium` is needed. A test that asks for a browser is skipped where there is none, and fails in
continuous integration (CI=true), where somebody forgot to install one.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60.0  # seconds for one answer: generous, since machines that test are busy
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"),
    "--remote-debugging-pipe",
)
# The code of a key as the keyboard sends it; without it the browser's own controls (sliders) do not react.
KEY_CODES = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32, "Tab": 9, "Enter": 13}
CHARACTERS = {" ": " ", "Enter": "\r"}


class Browser:
    """One page. `complaints` collects errors and warnings of the console, and exceptions that nothing caught."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._received = b""
        self._number = 0
        self._session = ""
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol, and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next_message(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._answers, 1 << 16)
            assert piece, "the browser has gone"
            self._received += piece
        first, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        details = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(details["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if details["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(details["args"]))
            case "Log.entryAdded" if details["entry"]["level"] in ("error", "warning"):
                self.complaints.append(details["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(details["request"]["url"])

    # What a reader does

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until it is drawn."""
        self.call("Page.navigate", url="about:blank")  # else another fragment of the same file would load nothing
        self._events.clear()
        loader = self.call("Page.navigate", url=path.resolve().as_uri() + fragment)["loaderId"]
        while not any(map(partial(_is_load, loader), self._events)):
            self._note(self._next_message())
        self.value("new Promise(requestAnimationFrame)")

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            described: dict[str, Any] = {"key": key, "code": "Space" if key == " " else key}
            described["windowsVirtualKeyCode"] = KEY_CODES[key]
            text = {"text": CHARACTERS[key]} if key in CHARACTERS else {}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **described, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **described)

    def text(self, selector: str) -> str:
        """The text of an element as a reader sees it."""
        shown: str = self.value(f"document.querySelector({json.dumps(selector)}).innerText")
        return shown

    # How it looks

    def look(self, width: int, height: int = 900, scheme: str = "light") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> tuple[int, int]:
        """The whole page as a PNG; how wide and high it is."""
        picture = base64.b64decode(
            self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        )
        assert picture.startswith(b"\x89PNG")
        path.write_bytes(picture)
        width, height = struct.unpack(">II", picture[16:24])
        return width, height

    def printed(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


def _is_load(loader: str, event: dict[str, Any]) -> bool:
    """Whether the event says that this navigation, and no earlier one, has loaded its page."""
    details = event.get("params", {})
    is_late = event.get("method") == "Page.lifecycleEvent" and details["name"] == "load"
    return is_late and details["loaderId"] == loader


def find_browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def running_browser(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own in `folder`; ended with the block."""
    program = find_browser()
    if program is None:
        missing = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    command_out, command_in = os.pipe()
    answer_out, answer_in = os.pipe()
    # Chromium reads commands from file descriptor 3 and writes answers to 4.
    wrapper = f'exec "$@" 3<&{command_out} 4>&{answer_in}'
    command = ["bash", "-c", wrapper, "bash", program, *FLAGS, f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        command, pass_fds=(command_out, answer_in), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(command_out)
    os.close(answer_in)
    try:
        yield Browser(command_in, answer_out)
    finally:
        os.close(command_in)  # it ends when nobody can command it any more
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answer_out)
