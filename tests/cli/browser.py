"""A headless Chromium that tests look at and click in, by its debugging pipe: nothing but Python's library is needed."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time


def program():
    """None where there is no Chromium."""
    return shutil.which("chromium") or shutil.which("google-chrome")


class Browser:
    """One page. What its console says of errors is kept in `errors`."""

    def __init__(self, width=1280, height=1000):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, to_write = os.pipe(), os.pipe()

        def pipes():
            os.dup2(to_read[0], 20)
            os.dup2(to_write[1], 21)
            os.dup2(20, 3)
            os.dup2(21, 4)

        # No network: every request but of the page's own file fails, and is told as an error.
        self.process = subprocess.Popen([program(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
                                         "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder.name}", "about:blank"],
                                        preexec_fn=pipes, close_fds=False, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read[0])
        os.close(to_write[1])
        self.write, self.read = to_read[1], to_write[0]
        self.rest, self.number, self.session, self.errors, self.loads = b"", 0, None, [], 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # its helpers write into the folder too
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            told = self.message()
            if told.get("id") == self.number:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']}")
                return told["result"]
            if told.get("method") == "Runtime.exceptionThrown":
                self.errors.append(told["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                self.errors.append(told["params"]["entry"]["text"])
            if told.get("method") == "Network.requestWillBeSent" and not told["params"]["request"]["url"].startswith(("file:", "blob:", "data:", "about:")):
                self.errors.append("asks for " + told["params"]["request"]["url"])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind="", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, seconds=60):
        """Until the page says that it is ready."""
        self.call("Page.navigate", url="file://" + str(path))
        end = time.monotonic() + seconds
        while self.value("document.body ? document.body.dataset.ready || '' : ''") != "yes":
            if time.monotonic() > end:
                raise RuntimeError(f"{path} is not ready: {self.errors}")
            time.sleep(0.02)
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, expression):
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(expression + ": " + str(told["exceptionDetails"].get("exception", {}).get("description")))
        return told["result"].get("value")

    def box(self, selector):
        """Left, top, width and height in the window, scrolled so that it is seen."""
        return self.value(f"(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView({{block: 'center'}}); "
                          "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * step / 5, y + (to_y - y) * step / 5, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        self.settle()

    def key(self, key, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def pixel(self, selector, x, y):
        """Red, green and blue of a canvas, by its own pixels."""
        return tuple(self.value(f"[...document.querySelector('{selector}').getContext('2d').getImageData({int(x)}, {int(y)}, 1, 1).data.slice(0, 3)]"))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))
