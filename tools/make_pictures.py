"""Draw the pictures of the documentation from what the program finds.

    python tools/make_pictures.py

docs/images/college_plans.svg: the network of the bundled college plans before and after discovery,
as `make demo` finds it; docs/images/report.png: the first screen of its report (needs Chromium).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import unveil
from unveil.cli import main as unveil_program
from unveil.report import svg_text

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
IMAGES = Path(__file__).parent.parent / "docs" / "images"


def side_by_side(left: str, right: str, gap: float = 30) -> str:
    """Two SVG pictures as one, standing on a common ground."""
    (w1, h1), (w2, h2) = _size(left), _size(right)
    width, height = w1 + gap + w2, max(h1, h2)
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}">',
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
            _placed(left, 0, (height - h1) / 2),
            _placed(right, w1 + gap, (height - h2) / 2),
            "</svg>\n",
        ]
    )


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


def _placed(svg: str, x: float, y: float) -> str:
    return svg.replace("<svg ", f'<svg x="{x:g}" y="{y:g}" ', 1)


def first_screen(page: Path, picture: Path, width: int = 820, height: int = 1800) -> None:
    """The top of a page as a small PNG, as a browser shows it."""
    from PIL import Image

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"{picture.name}: none of {', '.join(BROWSERS)} is here, so it stays as it was")
        return
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    words += [f"--window-size={width},{height}", f"--screenshot={picture}", page.resolve().as_uri()]
    subprocess.run([browser, *words], check=True, capture_output=True, timeout=120)
    # Few colours are enough, and a third of the bytes.
    Image.open(picture).convert("RGB").quantize(48).save(picture, optimize=True)


def main() -> None:
    """Draw them all."""
    with tempfile.TemporaryDirectory() as folder:
        unveil_program(["demo", "--output", folder])
        columns = unveil.load(Path(folder) / "baseline.json")
        found = unveil.load(Path(folder) / "model.json")
        first_screen(Path(folder) / "report.html", IMAGES / "report.png")
    before = svg_text(columns, title="the columns alone")
    after = svg_text(found, highlight=found.hidden, title="with what was hidden")
    (IMAGES / "college_plans.svg").write_text(side_by_side(before, after), encoding="utf-8")


if __name__ == "__main__":
    main()
