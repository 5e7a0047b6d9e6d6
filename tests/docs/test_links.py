"""Links between pages lead somewhere, and the site has every page."""

import pytest

from .pages import ROOT, anchors, links, page_id, pages


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_links_lead_to_files_and_headings(page):
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page_id(page)} links to {link}, which does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page_id(page)}: no heading for {link}"


def test_every_page_is_in_the_navigation():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name in site, f"mkdocs.yml does not list {page.name}"


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_pages_name_no_folder_of_somebodys_machine(page):
    text = page.read_text(encoding="utf-8")
    for folder in ("/home/", "/root/", "/work/", "/Users/", "C:\\"):
        assert folder not in text
