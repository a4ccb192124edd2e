# SPDX-License-Identifier: Apache-2.0
"""A run's page by keyboard, and by axe's rules of accessibility, in light and dark, with all sections open.

    report_page_axe.py BROWSER PAGE...     exit status 1: something is wrong, and is printed
"""
import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright


def by_keyboard(page):
    """Tab reaches the heads of the kernels and the first section; Enter sorts and opens."""
    def focused(what):
        return page.evaluate(f"document.activeElement.matches({what!r})")

    wrong = []
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused("table.sortable th button"):
            break
    page.keyboard.press("Enter")
    if page.get_attribute("table.sortable th", "aria-sort") != "ascending":
        wrong.append("Enter on a head does not sort")
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused("summary"):
            break
    was_open = page.evaluate("document.activeElement.parentElement?.open")
    page.keyboard.press("Enter")
    if page.evaluate("document.activeElement.parentElement?.open") == was_open:
        wrong.append("Enter on a section does not fold it")
    return wrong


def by_rules(page):
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    results = Axe().run(page)
    return [f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:200]}"
            for rule in results.response["violations"]]


def main():
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
        for name in sys.argv[2:]:
            for scheme in "light", "dark":
                page = browser.new_context(color_scheme=scheme, viewport={"width": 1000, "height": 800}).new_page()
                page.goto(pathlib.Path(name).resolve().as_uri())
                wrong += [f"{name}, {scheme}: {what}" for what in by_keyboard(page) + by_rules(page)]
        browser.close()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
