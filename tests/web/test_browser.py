"""A real browser walks the trails as a person would; skipped where there is none."""

import shutil
import socket
import threading
import time

import pytest
import uvicorn

from unveil.web.app import create_app

from .conftest import LIMITS

playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
expect = playwright.expect
expect.set_options(timeout=90_000)
ODD = "<script>alert(1)</script>"
SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server on loopback."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(tmp_path_factory.mktemp("web"), LIMITS), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=20)
    taken.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A tab in which any error of a script, and any dialog, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    tab = context.new_page()
    tab.set_default_timeout(90_000)
    wrong = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("dialog", lambda shown: (wrong.append(shown.message), shown.dismiss()))
    tab.wrong = wrong
    yield tab
    context.close()


@pytest.fixture(scope="module")
def walked(address, browser):
    """The address of an analysis of the college plans, after a search."""
    tab = browser.new_page()
    tab.set_default_timeout(90_000)
    tab.goto(address)
    tab.click("[data-example=college_plans]")
    tab.wait_for_selector("#columns table")
    key = tab.url
    tab.goto(f"{key}/dependences")
    tab.wait_for_selector("#graph .node")
    tab.close()
    return key


def test_a_table_is_sent_corrected_and_read_again(address, page, tmp_path):
    rows = tmp_path / "people.csv"
    rows.write_text("who,x,n\nAnn,1,2\nBo,2,3\nCy,1,1\n")
    page.goto(address)
    page.set_input_files("#file", rows)
    page.wait_for_selector("#columns table")
    assert "people.csv" in page.inner_text("h1")
    page.select_option("[name=weights]", "n")
    page.check("[aria-label='leave who out']")
    page.click("text=Read again")
    page.wait_for_selector("text=total weight")
    assert page.wrong == []


def test_a_wrong_file_is_answered_with_a_sentence(address, page, tmp_path):
    rows = tmp_path / "book.csv"
    rows.write_bytes(b"PK\x03\x04" + bytes(200))
    page.goto(address)
    page.set_input_files("#file", rows)
    page.wait_for_selector(".notice")
    assert "book.csv: this is a zip archive or an Excel workbook" in page.inner_text(".notice")


def test_arcs_are_clicked_forbidden_and_searched_again(walked, page):
    page.goto(f"{walked}/dependences")
    page.wait_for_selector("#graph .node")
    before = page.locator("#graph .node[data-name=SEX]").bounding_box()
    page.locator("#arcs button").first.click()
    words = page.inner_text("#arc h2")
    page.click("text=Forbid it")
    page.click("text=Search again with this")
    page.wait_for_selector("#wishes li:has-text('forbidden')")
    expect(page.locator("#arcs")).not_to_contain_text(words)
    assert page.locator("#graph .node[data-name=SEX]").bounding_box() == before
    assert page.wrong == []


def test_evidence_moves_everything(walked, page):
    page.goto(f"{walked}/playground")
    page.wait_for_selector("#graph .state")
    first = page.locator("#graph .node[data-name=CP] .state text.p").first
    expect(first).to_contain_text("%")
    before = first.text_content()
    page.locator("#graph .node[data-name=PE] .state").first.click()
    expect(page.locator("#known")).to_contain_text("seen: PE")
    assert first.text_content() != before
    page.locator("#graph .node[data-name=CP]").click(position={"x": 20, "y": 8})
    page.click("text=Why?")
    page.wait_for_selector("#panel td:has-text('PE = ')")
    page.click("text=What to ask next?")
    page.wait_for_selector("#panel th:has-text('ask next')")
    page.click("#panel button:has-text('do') >> nth=0")
    expect(page.locator("#known")).to_contain_text("done: CP")
    page.click("text=Keep as scenario A")
    page.click("text=Forget what is known")
    page.wait_for_selector("#scenarios table")
    assert page.wrong == []


def test_a_search_is_stopped_left_and_found_again(address, page):
    page.goto(address)
    page.click("[data-example=alarm]")
    page.wait_for_selector("#columns table")
    key = page.url
    page.goto(f"{key}/hidden")
    page.click("button.main")
    page.wait_for_selector(".job .phase:not(:has-text('waiting'))")
    page.goto(address)  # the tab is closed or gone back, the work goes on
    page.go_back()
    page.wait_for_selector("text=Stop with the best so far")
    page.click("text=Stop with the best so far")
    page.wait_for_selector("#found:not([hidden])")
    assert "Stopped early" in page.inner_text("#job")
    assert page.wrong == []


def test_odd_names_do_nothing(address, page, tmp_path):
    rows = tmp_path / "odd.csv"
    rows.write_text(f'"{ODD}",y\n' + f'"{ODD}",a\nb,b\n' * 20)
    page.goto(address)
    page.set_input_files("#file", rows)
    page.wait_for_selector("#columns table")
    key = page.url
    for path, sign in (
        ("dependences", "#graph .node"), ("playground", "#graph .state"), ("take", "pre"),
    ):  # fmt: skip
        page.goto(f"{key}/{path}")
        page.wait_for_selector(sign)
        assert ODD in page.content().replace("&lt;", "<").replace("&gt;", ">")
    assert page.wrong == []


def test_things_are_taken_along_and_deleted(walked, page):
    page.goto(f"{walked}/take")
    with page.expect_download() as saved:
        page.click("a:has-text('model.bif')")
    assert saved.value.suggested_filename == "model.bif"
    assert "unveil learn college_plans.csv" in page.inner_text("main")


def test_a_phone_shows_it_too(walked, browser):
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.goto(f"{walked}/playground")
    tab.wait_for_selector("#graph .node")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    tab.close()
