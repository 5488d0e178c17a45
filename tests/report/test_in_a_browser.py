"""The page in a real browser: it draws without an error, answers hover and search, in light and dark.

Skipped where no chromium is on PATH. Screenshots are kept in the folder that COTERIE_SCREENSHOTS names, or
in pytest's own temporary folder.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from coterie.report import write_report
from tests.report.pages import evaluation, model

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH: install Debian's package chromium to test the report"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


class Opened:
    """A page from disk with no network, and what it complained of."""

    def __init__(self, browser: Browser, file: Path, width: int = 1280, scheme: Any = "light") -> None:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("body[data-ready]", timeout=20_000)

    def search(self, user: str) -> None:
        self.page.fill("#query", user)
        self.page.press("#query", "Enter")

    def ask(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    write_report(file, model(), evaluation())
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_draws_everything_without_an_error(
    browser: Browser, report: Path, width: int, scheme: str, tmp_path: Path
) -> None:
    opened = Opened(browser, report, width, scheme)
    titles = opened.page.locator("figure h3").all_inner_texts()
    assert len(titles) >= 11
    assert all(title.endswith("?") for title in titles)
    opened.page.wait_for_function("document.querySelectorAll('.plot svg').length >= 11")
    unnamed = (
        "[...document.querySelectorAll('.plot svg:not(.over)')].filter((s) => !s.querySelector('text.name'))"
    )
    assert opened.ask(f"{unnamed}.length") == 0
    assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
    dark = opened.ask("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (scheme == "dark")
    folder = Path(os.environ.get("COTERIE_SCREENSHOTS") or tmp_path)
    opened.page.screenshot(path=folder / f"report-{scheme}-{width}.png", full_page=True)
    assert opened.said == []
    assert opened.asked == [report.as_uri()]


def test_points_are_painted_in_the_colours_of_their_clusters(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    colours = opened.ask(
        """() => {
          const canvas = document.querySelector("canvas[aria-label='Map of users']");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          const found = new Set();
          for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 150) found.add([0, 1, 2].map((k) => data[i + k] >> 5).join());
          return found.size;
        }"""
    )
    assert colours >= 3


@pytest.mark.parametrize("user", ["u17", "<b>"])
def test_search_shows_a_user_as_the_model_explains_her(browser: Browser, report: Path, user: str) -> None:
    opened, told = Opened(browser, report), model().explain(user)
    opened.search(user)
    card = opened.page.locator("#user-card")
    assert card.locator("h3").first.inner_text() == f"User {user}"
    text = card.inner_text()
    assert f"of {told.pooled_users} users" in text or told.pooled_users == 1
    cells = card.locator("table").first.locator("tbody tr td:first-child").all_inner_texts()
    lenders = [one.user for one in told.neighbours if one.user != user]
    assert set(cells) <= set(lenders)
    assert len(cells) == min(12, len(lenders))
    assert opened.said == []


def test_a_user_who_is_not_there_is_said_so(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    opened.search("nobody")
    message = opened.ask("document.getElementById('query').validationMessage")
    assert message == "There is no user nobody here."
    assert not opened.page.locator("#user-card").count()


def test_hover_tells_of_the_point_and_a_click_opens_it(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    canvas = opened.page.locator("canvas[aria-label='Map of users']")
    canvas.scroll_into_view_if_needed()
    box, told = canvas.bounding_box(), ""
    assert box is not None
    for k in range(400):
        x, y = (
            box["x"] + box["width"] * (0.1 + 0.04 * (k % 20)),
            box["y"] + box["height"] * (0.04 + 0.048 * (k // 20)),
        )
        opened.page.mouse.move(x, y)
        told = opened.page.locator(".tip").inner_text() if opened.page.locator(".tip").is_visible() else ""
        if told:
            break
    user = told.splitlines()[0].removeprefix("User ")
    row = model().users.tolist().index(user)
    assert f"{model().statistics.count[row]:,.0f} row" in told
    opened.page.mouse.down()
    opened.page.mouse.up()
    assert opened.page.locator("#user-card h3").first.inner_text() == f"User {user}"


def test_zoom_magnifies_and_all_shows_everything_again(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    figure = opened.page.locator("figure", has_text="Where do users lie")
    ticks = figure.locator(".plot > svg text:not(.name)")
    before = ticks.all_inner_texts()
    for _ in range(4):
        figure.get_by_label("Zoom in").click()
    assert ticks.all_inner_texts() != before
    figure.get_by_label("Show everything").click()
    assert ticks.all_inner_texts() == before


def test_the_switch_changes_the_colours(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    paint = (
        "document.querySelector('.plot canvas').toDataURL().length + getComputedStyle(document.body).color"
    )
    light = opened.ask(paint)
    opened.page.click("#theme")
    assert opened.ask("document.documentElement.dataset.theme") == "dark"
    assert opened.ask(paint) != light
    assert opened.said == []


def test_curves_can_be_seen_by_another_metric_and_group(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    figure = opened.page.locator("figure", has_text="with little data, and with more")
    assert "Lower is better." in figure.inner_text()
    figure.get_by_label("Measured by").select_option("choice")
    figure.get_by_label("for").select_option("few")
    assert "Higher is better." in figure.inner_text()
    assert figure.locator("polygon[opacity]").count() == 2
    assert opened.said == []


@pytest.mark.parametrize("name", ["OffCLUB", "Independent", "Pooled", "DBSCAN", "Mixture"])
def test_other_algorithms_have_a_page_too(browser: Browser, name: str, tmp_path: Path) -> None:
    write_report(tmp_path / "page.html", model(name))
    opened = Opened(browser, tmp_path / "page.html")
    opened.search("u5")
    assert opened.page.locator("#user-card h3").first.inner_text() == "User u5"
    assert opened.page.locator("figure").count() >= 6
    assert opened.said == []


def test_an_evaluation_alone_has_a_page_and_a_search(browser: Browser, tmp_path: Path) -> None:
    write_report(tmp_path / "page.html", run=evaluation())
    opened = Opened(browser, tmp_path / "page.html")
    assert "For all users, use off-c2lub." in opened.page.locator("main").inner_text()
    assert "<i>markup</i>" in opened.page.locator("main").inner_text()
    opened.search("u1")
    cells = opened.page.locator("#user-card tbody tr td:first-child").all_inner_texts()
    assert cells == ["off-c2lub", "pooled"]  # the better first: 0.25 before 0.5
    assert opened.said == []
