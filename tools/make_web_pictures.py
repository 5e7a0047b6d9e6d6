"""Take the picture of the web pages that the documentation shows.

    python tools/make_web_pictures.py

docs/images/playground.png: the playground on the bundled college plans, with the hidden variable
that was found, after one finding. Needs `unveil[test]` and Chromium.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from unveil.web.app import create_app

IMAGES = Path(__file__).parent.parent / "docs" / "images"
LONG = 240_000
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


def main() -> None:
    """Start a server, walk to the playground, take its picture."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Path(folder))
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        picture = IMAGES / "playground.png"
        take(f"http://127.0.0.1:{taken.getsockname()[1]}", picture)
        server.should_exit = True
        thread.join()
    # Few colours are enough, and a third of the bytes.
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)


def take(address: str, picture: Path) -> None:
    """The playground after a discovery and a finding."""
    with sync_playwright() as driver:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=program, args=SWITCHES)
        page = browser.new_page(viewport={"width": 1180, "height": 860})
        page.set_default_timeout(LONG)
        page.goto(address)
        page.click("[data-example=college_plans]")
        page.wait_for_selector("#columns table")
        key = page.url
        page.goto(f"{key}/hidden")
        page.fill("[name=max_hidden]", "1")
        page.click("button.main")
        page.wait_for_selector("#found:not([hidden])")
        page.set_default_timeout(60_000)
        page.goto(f"{key}/playground")
        page.wait_for_selector("#graph .state")
        page.locator("#graph .node[data-name=PE] .state").first.click()
        page.locator("#known:has-text('seen: PE')").wait_for()
        page.locator("#graph .node[data-name=H1]").click(position={"x": 20, "y": 8})
        page.click("text=Why?")
        page.wait_for_selector("#panel td:has-text('PE')")
        page.wait_for_timeout(500)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
