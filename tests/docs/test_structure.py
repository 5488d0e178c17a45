"""The architecture and the habits that a machine can hold: sizes, headings, links, what is documented."""

import ast
import re
from pathlib import Path

import click
import pytest

from coterie.cli import app
from tests.docs.pages import ROOT, pages

SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
STAGES = ("Takes:", "Gives:")


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_have_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_have_at_most_40_statements_and_nest_at_most_3_deep(path: Path) -> None:
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef) and path.name not in {"_kernels.py", "_plain.py"}:
            assert sum(isinstance(node, ast.stmt) for node in ast.walk(function)) <= 41, function.name
            assert _depth(function) <= 3, f"{function.name} nests deeper than 3"


def _depth(node: ast.AST) -> int:
    blocks = (ast.For, ast.While, ast.If, ast.With, ast.Try)
    return max(
        (_depth(child) + isinstance(child, blocks) for child in ast.iter_child_nodes(node)),
        default=0,
    )


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.parent.name in {"coterie", "logs", "statistics", "neighbourhood", "theory"}],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_stage_modules_say_what_they_take_and_give(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert text, "no docstring"
    if path.name in {"__init__.py", "errors.py", "progress.py", "_kernels.py", "_plain.py"}:
        return
    assert all(word in text for word in STAGES)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_command_and_option_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "commands.md").read_text()
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        assert f"## coterie {name}" in text
        for parameter in command.params:
            assert all(f"`{option}`" in text for option in parameter.opts if option.startswith("--"))


def test_the_reference_of_commands_is_the_program_s_own() -> None:
    from tests.docs.command_reference import written

    assert (ROOT / "docs" / "reference" / "commands.md").read_text() == written(), (
        "run: python -m tests.docs.command_reference"
    )


def test_every_dependency_has_a_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    names = set(
        re.findall(r'"([a-z-]+)>=', project.split("[project.scripts]")[0].split("dependencies = [", 1)[1])
    )
    assert {name for name in names if f"`{name}`" not in reasons} == set()


def test_nothing_of_a_machine_is_in_the_project() -> None:
    for path in [*PYTHON, *pages(), ROOT / "pyproject.toml"]:
        found = re.findall(r"(?:^|[\s\"'(=])/(?:work|root|home|opt)/\w+", path.read_text())
        assert not found, f"{path}: {found}"
