"""A real browser walks the trails as a person would; skipped where there is none."""

import re
import shutil
import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import uvicorn

from .conftest import app_here, rows_of_kinds

playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
expect = playwright.expect
LONG = 180_000
expect.set_options(timeout=LONG)
ODD, IMAGE = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@contextmanager
def running(folder, port=0):
    """A server on loopback; its address."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("127.0.0.1", port))
    app = app_here(folder, apart=("discover",))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        taken.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with running(tmp_path_factory.mktemp("web")) as where:
        yield where


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
    context.set_default_timeout(LONG)
    tab = context.new_page()
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
    tab.set_default_timeout(LONG)
    tab.goto(address)
    tab.click("[data-example=college_plans]")
    tab.wait_for_selector("#columns table")
    key = tab.url
    tab.goto(f"{key}/dependences")
    tab.wait_for_selector("#graph .node")
    tab.close()
    return key


def sent(page, address, tmp_path, name, text):
    """Send a file; the address of its analysis."""
    file = tmp_path / name
    file.write_text(text)
    page.goto(address)
    page.set_input_files("#file", file)
    page.wait_for_selector("#columns table")
    return page.url


def test_a_table_is_sent_corrected_and_read_again(address, page, tmp_path):
    sent(page, address, tmp_path, "people.csv", "who,x,n\nAnn,1,2\nBo,2,3\nCy,1,1\n")
    assert "people.csv" in page.inner_text("h1")
    page.select_option("[name=weights]", "n")
    page.check("[aria-label='leave who out']")
    page.click("text=Read again")
    page.wait_for_selector("text=total weight")
    assert page.wrong == []


def test_wrong_files_are_answered_with_a_sentence(address, page, tmp_path):
    book, large, empty = (tmp_path / name for name in ("book.csv", "large.csv", "empty.csv"))
    book.write_bytes(b"PK\x03\x04" + bytes(200))
    empty.write_bytes(b"")
    with large.open("wb") as file:
        file.truncate(200 << 20)
    page.goto(address)
    page.set_input_files("#file", large)
    expect(page.locator("#sending")).to_contain_text("large.csv has 200 MiB; this server takes 100")
    page.set_input_files("#file", empty)
    expect(page.locator("#sending")).to_contain_text("empty.csv is empty")
    page.set_input_files("#file", book)
    page.wait_for_selector("#job .notice")
    assert "book.csv: this is a zip archive or an Excel workbook" in page.inner_text("#job .notice")
    page.goto(f"{address}/a/{'A' * 22}")
    assert "no such analysis" in page.inner_text("main")


def test_arcs_are_clicked_forbidden_and_searched_again(walked, page):
    page.goto(f"{walked}/dependences")
    page.wait_for_selector("#graph .node")
    before = page.locator("#graph .node[data-name=SEX]").bounding_box()
    page.locator("#arcs button").first.click()
    words = page.inner_text("#arc h2")
    page.click("text=Forbid it")
    with page.expect_response(re.compile("/picture")):
        page.click("text=Search with this")
    page.wait_for_selector("#wishes li:has-text('must not be there')")
    expect(page.locator("#arcs")).not_to_contain_text(words)
    page.wait_for_timeout(500)  # the new picture is drawn
    after = page.locator("#graph .node[data-name=SEX]").bounding_box()
    assert (after["x"], after["width"]) == (before["x"], before["width"])
    page.wait_for_selector("#results select")
    page.select_option("#results select", index=1)
    expect(page.locator("#arcs")).to_contain_text(words)
    page.locator("#graph .node[data-name=SEX]").click()
    page.click("text=Only its neighbourhood")
    expect(page.locator("#graph .around")).to_contain_text("Around SEX")
    assert page.wrong == []


def test_evidence_moves_everything_in_one_tab_only(walked, page):
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"{walked}/playground")
        tab.wait_for_selector("#graph .state")
    first = page.locator("#graph .node[data-name=CP] .state text.p").first
    expect(first).to_contain_text("%")
    before = first.text_content()
    page.locator("#graph .node[data-name=PE] .state").first.click()
    expect(page.locator("#known")).to_contain_text("seen: PE")
    assert first.text_content() != before
    assert other.locator("#graph .node[data-name=CP] .state text.p").first.text_content() == before
    page.locator("#graph .node[data-name=CP]").click(position={"x": 20, "y": 8})
    page.click("text=Why?")
    page.wait_for_selector("#panel td:has-text('PE = ')")
    page.click("text=What to ask next?")
    page.wait_for_selector("#panel th:has-text('ask next')")
    page.click("#panel button:has-text('do') >> nth=0")
    expect(page.locator("#known")).to_contain_text("done: CP")
    page.click("text=Most probable explanation")
    page.wait_for_selector("#explanation h2")
    page.click("text=Keep as scenario A")
    page.click("text=Forget what is known")
    page.wait_for_selector("#scenarios table")
    assert page.wrong == []


def test_numbers_are_learned_set_and_asked_about(address, page, tmp_path):
    draw = np.random.default_rng(6)
    x = draw.normal(50, 9, 80)
    y = 2 * x + draw.normal(0, 5, 80)
    kind = np.where(x > 50, "high", "low")
    rows = [f"{a:.2f},{b:.2f},{c}" for a, b, c in zip(x, y, kind, strict=True)]
    key = sent(page, address, tmp_path, "numbers.csv", "\n".join(["x,y,kind", *rows]))
    page.goto(f"{key}/dependences")
    page.wait_for_selector("#graph text.weight")
    expect(page.locator("#line-checks")).to_contain_text("share explained")
    page.goto(f"{key}/playground")
    page.locator("#graph .node[data-name=x]").click(position={"x": 12, "y": 6})
    page.fill("#panel input[type=number]", "70")
    page.click("#panel button:has-text('seen')")
    expect(page.locator("#known")).to_contain_text("seen: x = 70")
    expect(page.locator("#graph .node[data-name=x] .value")).to_have_text("70")
    page.locator("#graph .node[data-name=y]").click(position={"x": 12, "y": 6})
    page.click("text=Why?")
    page.wait_for_selector("#panel td:has-text('x = 70')")
    page.goto(f"{key}/classes")  # numbers and states: the page cuts what has to be cut
    assert page.input_value("[name=cut]") == "equal_frequency"
    page.goto(f"{key}/hidden")
    assert page.input_value("[name=cut]") == "equal_frequency"
    assert page.wrong == []


def test_what_is_known_beforehand_holds_for_hidden_variables(address, page, tmp_path):
    key = sent(page, address, tmp_path, "kinds.csv", rows_of_kinds(60))
    page.goto(f"{key}/hidden")
    page.click("#beforehand summary")
    page.select_option("#column-wish [name=column]", "w")
    page.click("#column-wish [value=no_parents]")
    page.select_option("#arc-wish [name=parent]", "w")
    page.select_option("#arc-wish [name=child]", "z")
    page.click("#arc-wish [value=required]")
    page.fill("#places [name=places]", "x, y")
    page.click("#places button")
    page.fill("[name=seconds]", "4")
    page.click("text=Search with this")
    page.wait_for_selector("#found:not([hidden])")
    expect(page.locator("#wishes")).to_contain_text("w → z must be there")
    page.locator("#pictures .node[data-name=x]").first.click()
    page.click("#arc >> text=It has no children")
    expect(page.locator("#wishes")).to_contain_text("x: it leads to no other column")
    page.goto(f"{key}/take")
    assert "--require 'w -> z' --no-parents w" in page.inner_text("main")
    assert page.wrong == []


def test_a_column_is_predicted_and_a_row_explained(address, page, tmp_path):
    key = sent(page, address, tmp_path, "kinds.csv", rows_of_kinds())
    page.goto(f"{key}/classification")
    page.wait_for_selector("[name=target] option", state="attached")
    page.select_option("[name=target]", "x")
    page.select_option("[name=model]", "naive")
    page.click("button.main")
    page.wait_for_selector("#found:not([hidden])")
    assert re.search(
        r"x is predicted right in \d+% of rows left out \(5\d%", page.inner_text("main")
    )
    other = tmp_path / "others.csv"
    other.write_text("w,y,z\nyes,yes,yes\nno,no,no\n")
    page.set_input_files("#file", other)
    page.wait_for_selector("text=2 rows of others.csv")
    page.locator("#rows td button").nth(1).click()
    page.wait_for_selector("#why h3:has-text('Row 2: no')")
    page.goto(f"{key}/rows")
    page.wait_for_selector("#rows th:has-text('predicted x')")
    assert page.wrong == []


def test_a_search_is_left_found_again_and_stopped(address, page):
    page.goto(address)
    page.click("[data-example=alarm]")
    page.wait_for_selector("#columns table")
    page.goto(f"{page.url}/hidden")
    page.click("button.main")
    page.wait_for_selector("#live li")
    page.goto(address)  # the tab is closed or gone back, the work goes on
    page.go_back()
    page.wait_for_selector("#live li")
    page.click("text=Stop with the best so far")
    page.wait_for_selector("#found:not([hidden])")
    assert "Stopped early" in page.inner_text("#job")
    assert page.wrong == []


def test_a_server_restarted_in_the_middle_goes_on(browser, tmp_path):
    tab = browser.new_page()
    tab.set_default_timeout(LONG)
    with running(tmp_path) as address:
        tab.goto(address)
        file = tmp_path / "kinds.csv"
        file.write_text(rows_of_kinds())
        tab.set_input_files("#file", file)
        tab.wait_for_selector("#columns table")
        tab.goto(f"{tab.url}/hidden")
        tab.fill("[name=max_hidden]", "1")
        tab.click("button.main")
        tab.wait_for_selector(".job .clock:has-text('s')")
    expect(tab.locator(".job .phase")).to_contain_text("does not answer")
    with running(tmp_path, int(address.rsplit(":", 1)[1])):
        tab.wait_for_selector("#found:not([hidden])")
        assert "H1" in tab.inner_text("#headline")
    tab.close()


def test_odd_names_do_nothing(address, page, tmp_path):
    key = sent(page, address, tmp_path, f"{IMAGE}.csv", f'"{ODD}",y\n' + f'"{ODD}",a\nb,b\n' * 20)
    for path, sign, name in (
        ("", "#columns table", ODD), ("dependences", "#graph .node", ODD),
        ("playground", "#graph .state", ODD), ("take", "pre", IMAGE),
    ):  # fmt: skip
        page.goto(f"{key}/{path}".rstrip("/"))
        page.wait_for_selector(sign)
        assert name in page.content().replace("&lt;", "<").replace("&gt;", ">")
    page.goto(f"{key}/classification")
    page.wait_for_selector("[name=target] option", state="attached")
    page.select_option("[name=model]", "naive")
    page.click("button.main")
    page.wait_for_selector("#rows td button")
    assert page.wrong == []


def test_things_are_taken_along_and_deleted(address, page, tmp_path):
    key = sent(page, address, tmp_path, "kinds.csv", rows_of_kinds(40))
    page.goto(f"{key}/dependences")
    page.wait_for_selector("#graph .node")
    page.goto(f"{key}/take")
    with page.expect_download() as saved:
        page.click("a:has-text('model.bif')")
    assert saved.value.suggested_filename == "model.bif"
    assert "unveil learn kinds.csv" in page.inner_text("main")
    page.evaluate("window.confirm = () => true")
    page.click("#delete")
    page.wait_for_selector("#drop")
    page.goto(key)
    assert "no such analysis" in page.inner_text("main")


def test_a_phone_in_the_dark_shows_it_too(walked, browser):
    tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    tab.goto(f"{walked}/playground")
    tab.wait_for_selector("#graph .node")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 31)"
    tab.close()
