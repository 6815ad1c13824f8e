"""A headless Chromium, spoken to over pipes in the DevTools protocol; needs nothing but Python. Every wait is for an answer or an event."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="cutune-chromium-")
        read_theirs, self.write = os.pipe()
        self.read, write_theirs = os.pipe()

        def become_3_and_4():
            a, b = os.dup(read_theirs), os.dup(write_theirs)  # neither may be in the way of the other
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb",
             f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=become_3_and_4, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_theirs)
        os.close(write_theirs)
        self.buffer, self.next_id, self.session, self.events = b"", 0, None, []

    def close(self):
        os.close(self.write)  # it ends when nobody speaks to it
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.next_id += 1
        request = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self.next_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def until(self, method):
        """Takes the next event of this kind, of what came already or will come."""
        while True:
            for i, event in enumerate(self.events):
                if event["method"] == method:
                    return self.events.pop(i)["params"]
            message = self._message()
            if "method" in message:
                self.events.append(message)

    def go(self, url, width=1280, height=900, dark=False):
        """A new tab with this page."""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.media(dark)
        self.call("Page.navigate", url=url)
        self.until("Page.loadEventFired")

    def open(self, path, **looks):
        """A new tab with this report, drawn."""
        self.go(pathlib.Path(path).resolve().as_uri(), **looks)
        failed = [said for said in self.complaints() if said.startswith("exception")]
        if failed:
            raise RuntimeError(f"{path} is not drawn: {failed[0]}")
        self.js("""new Promise(done => {
            const look = () => document.documentElement.dataset.state === 'drawn' ? done() : requestAnimationFrame(look);
            look();
        })""")

    def size(self, width, height=900, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def media(self, dark=False, printed=False):
        self.call("Emulation.setEmulatedMedia", media="print" if printed else "",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def js(self, expression):
        """The value of an expression; of a promise when it is kept."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description") or answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def settled(self):
        """After two frames: what was asked for is laid out, and what came into view is drawn."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))")

    def complaints(self):
        """What the console, the log and exceptions said so far."""
        said = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.consoleAPICalled":
                said.append(f"console.{params['type']}: " + " ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif event["method"] == "Runtime.exceptionThrown":
                said.append("exception: " + params["exceptionDetails"].get("exception", {}).get("description", params["exceptionDetails"]["text"]))
            elif event["method"] == "Log.entryAdded":
                said.append(f"log: {params['entry']['level']}: {params['entry']['text']}")
        return said

    def requests(self):
        """What was asked of the network or the disk, but the page itself."""
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return asked[1:]

    def screenshot(self, path, whole=True):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
