"""Photographs one chart of a report: `python docs/figures/cards.py report.html "part of its title" out.png`.

Further arguments choose what the chart shows, by the label of a list and a value: `"Measured by=choice"`.
Needs playwright, pillow and a chromium on PATH.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

COLOURS = 96


def photograph(page: str, title: str, out: str, *choices: str) -> None:
    """Write the card whose title has these words."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        opened = browser.new_page(viewport={"width": 1000, "height": 900})
        opened.goto(Path(page).resolve().as_uri())
        opened.wait_for_selector("body[data-ready]")
        card = opened.locator("figure", has_text=title).first
        for choice in choices:
            label, _, value = choice.partition("=")
            card.get_by_label(label, exact=True).select_option(value)
        data = card.screenshot()
        browser.close()
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    picture.quantize(COLOURS, method=2, dither=Image.Dither.NONE).save(out, optimize=True)


if __name__ == "__main__":
    photograph(*sys.argv[1:])
