"""Pages: balanced tags, nothing from outside, nothing unescaped, the same every time."""

import math
import re
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable, datasets
from unveil.report import Page, learn_page

NASTY = '<b>&"x"'
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Balanced(HTMLParser):
    """Fails on a tag that is closed out of turn; collects text and tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.seen, self.text = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@dataclass(frozen=True)
class Arc:
    parent: str
    child: str
    loss: float
    words: str
    confidence: float | None = None


def check(html: str) -> Balanced:
    found = Balanced(html)
    assert "b" not in found.seen
    outside = html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|<script[^>]+src|@import|url\(|<link|<img", outside)
    return found


def nasty_network() -> Network:
    x = Variable(NASTY, ["<i>", "&"])
    y = Variable("y", ["a", "b", "c"])
    return Network(
        [TableCPD(x, [], [0.25, 0.75]), TableCPD(y, [x], [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])]
    )


def page_of(network: Network, **changes) -> Page:
    losses = np.random.default_rng(0).gamma(1, 50, network.dag.n_arcs)
    arcs = [
        Arc(p, c, float(loss), f"{p} tells about {c}.", 0.5)
        for (p, c), loss in zip(network.dag.arcs, losses, strict=True)
    ]
    settings = {
        "table_name": f"{NASTY}.csv", "n_rows": 1234, "score_name": "BDeu", "score": -5678.9,
        "seconds": 75.0, "search_name": "hill climbing", "arcs": arcs, "notes": [NASTY],
    }  # fmt: skip
    return learn_page(network, **{**settings, **changes})


def test_every_part_is_escaped_and_balanced():
    page = Page(NASTY, NASTY).section(NASTY).text(NASTY, NASTY).items([NASTY])
    page.facts([(NASTY, NASTY), ("n", 12345), ("none", None)])
    page.table([NASTY, "p"], [[NASTY, 0.5], ["b", None]], caption=NASTY, sortable=True)
    page.figure("<svg></svg>", NASTY).open_details(NASTY, NASTY).text("in").close_details()
    found = check(page.html())
    assert "".join(found.text).count(NASTY) == 15
    assert "12,345" in found.text


def test_a_part_left_open_is_closed_at_the_end():
    check(Page("t").open_details("more").text("x").html())


def test_closing_what_is_not_open_is_refused():
    with pytest.raises(ValueError, match="nothing is folded"):
        Page("t").close_details()


def test_columns_of_numbers_share_their_decimals():
    html = Page("t").table(["a"], [[985.93], [4], [None]]).html()
    assert re.findall(r'<td class="n"[^>]*>([^<]*)', html) == ["985.9", "4.0", "–"]


def test_a_script_comes_only_with_a_sortable_table():
    assert "<script" not in Page("t").table(["a"], [[1]]).html()
    assert "<script" in Page("t").table(["a"], [[1]], sortable=True).html()


def test_write_is_the_same_text(tmp_path):
    page = Page("ä").text("ö")
    page.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html()


def test_the_learn_page_is_safe_whole_and_repeatable():
    page = page_of(nasty_network())
    found = check(page.html())
    words = "".join(found.text)
    for expected in ("1,234", "-5,678.9", "1 min 15 s", "hill climbing", f"{NASTY} tells about y."):
        assert expected in words
    assert page.html() == page_of(nasty_network()).html()


def test_arcs_come_strongest_first():
    network = datasets.network("asia")
    page = page_of(network)
    losses = [float(x) for x in re.findall(r'<td class="n" data-v="([^"]+)"', page.html())][::2]
    assert len(losses) == network.dag.n_arcs
    assert losses == sorted(losses, reverse=True)


def test_marginals_and_tables_show():
    html = page_of(nasty_network()).html()
    assert "&lt;i&gt;: 0.25" in html
    # P(y = a) = 0.25 * 0.1 + 0.75 * 0.5
    assert "a: 0.4" in html
    assert html.count('<td class="n p"') == 6


def test_long_tables_are_cut():
    parents = [Variable(f"p{i}", range(4)) for i in range(3)]
    child = Variable("c", [0, 1])
    network = Network([*(TableCPD.uniform(p) for p in parents), TableCPD.uniform(child, parents)])
    html = page_of(network).html()
    assert "The first 50 of 64 rows" in html
    assert html.count('<td class="n p"') == 100


def test_no_arcs_is_said_in_words():
    network = Network(
        [TableCPD.uniform(Variable("a", [0, 1])), TableCPD.uniform(Variable("b", [0]))]
    )
    html = page_of(network, notes=()).html()
    assert "No arc was worth its price" in html
    assert "connected to nothing: a, b" in html
    check(html)


def test_odd_losses_do_not_break_the_page():
    network = nasty_network()
    for loss in (0.0, -1.0, math.inf, math.nan):
        check(page_of(network, arcs=[Arc(NASTY, "y", loss, "w")]).html())
