"""The HTML replay in a real browser, without a network: it draws, moves, reacts, and logs nothing.

Headless Chromium is driven through its DevTools pipe (no extra Python package). Without Chromium these tests are
skipped, unless STICTION_REQUIRE_BROWSER=1, which makes that a failure.
"""

from __future__ import annotations

import base64
import fcntl
import io
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_replay import load_replay_module, trotting_replay

SIZE = (1100, 720)
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No --disable-gpu: with it Chromium reads every WebGL frame back and logs a warning of its own ("GPU stall").
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--remote-debugging-pipe",
]


# --- a browser -----------------------------------------------------------------------------------------------------


class Browser:
    """One page of a headless Chromium, over the DevTools protocol; every message of the page is kept."""

    def __init__(
        self,
        executable: str,
        profile: Path,
        size: tuple[int, int] = SIZE,
        extra: tuple[str, ...] = (),
    ) -> None:
        to_chromium, self._out = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in os.pipe())
        self._in, from_chromium = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in os.pipe())

        def connect() -> None:  # Chromium reads commands from descriptor 3 and answers on 4
            os.dup2(to_chromium, 3)
            os.dup2(from_chromium, 4)

        command = [executable, *CHROMIUM_FLAGS, *extra, f"--user-data-dir={profile}", "about:blank"]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=quiet, stdout=quiet, stderr=quiet, preexec_fn=connect, pass_fds=(3, 4)
        )
        os.close(to_chromium)
        os.close(from_chromium)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )

    def call(self, method: str, timeout: float = 90.0, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while True:
            answer = self._receive(end, method)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, end: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no answer to {method}")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError(f"Chromium ended during {method}")
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, url: str, timeout: float = 90.0) -> None:
        """Load `url` from scratch and wait until its first frame is drawn."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait(timeout)

    def wait(self, timeout: float = 90.0) -> None:
        end = time.monotonic() + timeout
        while self.evaluate("window.stictionReady") is not True:
            if time.monotonic() > end:
                raise TimeoutError(f"stictionReady stayed false: {self.complaints()}")
            time.sleep(0.05)

    def screenshot(self) -> np.ndarray:
        """(height, width, 3) uint8."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def complaints(self) -> list[str]:
        """Console errors and warnings, uncaught exceptions, log entries of the browser about the page."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {parameters['exceptionDetails']}")
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(
                    f"{parameters['type']}: {[a.get('value', a.get('description')) for a in parameters['args']]}"
                )
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in (
                "error",
                "warning",
            ):
                found.append(f"log: {parameters['entry']['text']}")
        return found

    def requests(self) -> list[str]:
        """Addresses the page asked for, without those inside the page itself."""
        urls = [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith(("data:", "blob:", "about:"))]

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)


def find_chromium() -> str:
    found = next((path for path in map(shutil.which, CHROMIUM_NAMES) if path), None)
    if found is None:
        message = (
            "no Chromium found (looked for "
            + ", ".join(CHROMIUM_NAMES)
            + "): apt-get install chromium"
        )
        if os.environ.get("STICTION_REQUIRE_BROWSER") == "1":
            pytest.fail(f"STICTION_REQUIRE_BROWSER=1, but {message}")
        pytest.skip(message)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(find_chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


# --- the tests -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("replay") / "trot.html"
    return load_replay_module().write_replay(path, trotting_replay()).as_uri()


def changed(a: np.ndarray, b: np.ndarray, threshold: int = 12) -> float:
    """Share of the pixels that differ visibly."""
    return float(np.mean(np.abs(a.astype(int) - b.astype(int)).max(axis=2) > threshold))


def settle(browser: Browser) -> None:
    """Wait for two repaints."""
    browser.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    )


def shot(browser: Browser, url: str, options: str) -> np.ndarray:
    """Picture of the paused replay with `options`; a page that is open already only changes its address."""
    if str(browser.evaluate("location.href")).split("#")[0] == url:
        browser.evaluate(
            f"window.stictionReady = false; location.hash = 'play=0&{options}&again={time.monotonic()}'"
        )
        browser.wait()
    else:
        browser.open(f"{url}#play=0&{options}")
    settle(browser)
    return browser.screenshot()


def test_robot_is_drawn_and_moves(browser: Browser, url: str) -> None:
    still = "panel=0&arrows=0&points=0&follow=0"
    first = shot(browser, url, f"t=0&{still}")
    assert changed(first, shot(browser, url, f"t=0&bodies=0&{still}")) > 0.01, (
        "the robot covers less than 1 %"
    )
    assert changed(first, shot(browser, url, f"t=1.0&{still}")) > 0.005, (
        "frames at 0 s and 1 s look the same"
    )
    assert browser.evaluate("window.stiction.time") == pytest.approx(1.0)
    assert changed(first, shot(browser, url, f"t=0&{still}")) == 0.0, (
        "the same address gives another picture"
    )
    browser.open(f"{url}#play=0&t=0&{still}")
    settle(browser)
    assert changed(first, browser.screenshot()) == 0.0, "loading anew gives another picture"


@pytest.mark.parametrize(
    "option", ["arrows", "cones", "points", "collision", "visual", "grid", "panel"]
)
def test_toggles_change_the_picture(browser: Browser, url: str, option: str) -> None:
    off = shot(browser, url, f"t=0.4&{option}=0")
    on = shot(browser, url, f"t=0.4&{option}=1")
    assert changed(off, on) > 2e-4
    # The button does the same as the option in the address.
    index = browser.evaluate(
        "[...document.querySelectorAll('#toggles button')].map(b => b.textContent.toLowerCase())"
    ).index({"arrows": "forces"}.get(option, option))
    browser.evaluate(f"document.querySelectorAll('#toggles button')[{index}].click()")
    settle(browser)
    assert changed(browser.screenshot(), off) < 0.002


def test_plots_are_drawn_with_cursor_and_reading(browser: Browser, url: str) -> None:
    browser.open(f"{url}#play=0&t=0.5")
    ink = browser.evaluate(
        "[...document.querySelectorAll('.plot canvas')].map(c => { const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0;"
        "for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (c.width * c.height); })"
    )
    assert len(ink) == 3 and min(ink) > 0.02
    readings = browser.evaluate(
        "[...document.querySelectorAll('.plot output')].map(o => o.textContent)"
    )
    assert "e" in readings[0] and readings[1].endswith("mm") and readings[2].endswith("J")
    status = browser.evaluate("document.getElementById('status').textContent")
    assert "0.500" in status and "N" in status
    # Hover shows the value there; a click goes there.
    x, y, width = browser.evaluate(
        "(() => { const r = document.querySelectorAll('.plot canvas')[2].getBoundingClientRect();"
        "return [r.left, r.top + r.height / 2, r.width]; })()"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 0.75 * width, y=y)
    settle(browser)
    assert "J" in browser.evaluate(
        "[...document.querySelectorAll('.tip')].map(t => t.hidden ? '' : t.textContent).join()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x + 0.75 * width,
            y=y,
            button="left",
            clickCount=1,
            buttons=1,
        )
    settle(browser)
    assert 1.3 < browser.evaluate("window.stiction.time") < 1.6


def test_playing_advances_and_dragging_orbits(browser: Browser, url: str) -> None:
    browser.open(f"{url}#play=1&t=0&speed=1")
    time.sleep(0.6)
    assert browser.evaluate("window.stiction.time") > 0.05
    browser.open(f"{url}#play=0&t=0.5")
    before = browser.screenshot()
    for kind, x in (("mousePressed", 300), ("mouseMoved", 420), ("mouseReleased", 420)):
        browser.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=300,
            button="left",
            buttons=1,
            clickCount=1,
        )
    settle(browser)
    assert changed(before, browser.screenshot()) > 0.02


def test_dark_theme_follows_the_system(browser: Browser, url: str) -> None:
    def brightness(scheme: str) -> float:
        browser.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        return float(shot(browser, url, "t=0.4").mean())

    assert brightness("light") > brightness("dark") + 80
    browser.call("Emulation.setEmulatedMedia", features=[])


def test_smallest_replay(browser: Browser, tmp_path: Path) -> None:
    m = load_replay_module()
    bodies = [m.ReplayBody("ball", [m.ReplayGeometry("sphere", (0.1,))])]
    page = m.write_replay(
        tmp_path / "one.html",
        m.Replay("<One> frame & no contacts", bodies, [0.0], [[[0, 0, 0.1, 0, 0, 0, 1]]]),
    )
    browser.open(page.as_uri())
    assert browser.evaluate("document.title") == "<One> frame & no contacts"
    assert browser.evaluate("[...document.querySelectorAll('.plot .none')].length") == 3


def test_page_was_silent_and_asked_for_nothing(browser: Browser, url: str) -> None:
    """Last on purpose: it judges everything the tests above did."""
    browser.open(f"{url}#play=0&t=0.2")
    assert browser.complaints() == []
    assert {request.split("#")[0].split("?")[0][:7] for request in browser.requests()} == {
        "file://"
    }


def test_without_webgl_the_readings_still_work(url: str, tmp_path: Path) -> None:
    opened = Browser(find_chromium(), tmp_path, extra=("--disable-3d-apis",))
    try:
        opened.open(f"{url}#play=0&t=0.4")
        assert "WebGL" in opened.evaluate("document.getElementById('notice').textContent")
        assert opened.evaluate(
            "[...document.querySelectorAll('#status b')].map(b => b.textContent)"
        )[:2] == [
            "0.400",
            "2",
        ]
        assert [c for c in opened.complaints() if "exception" in c] == []
    finally:
        opened.close()
