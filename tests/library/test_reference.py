"""The API reference is built by the documented command, and llms.txt names calls that exist."""

import ast
import inspect
import operator
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import bertviz_core as bv

ROOT = Path(__file__).parents[2]


def test_the_reference_has_every_public_name(tmp_path):
    pytest.importorskip("pdoc")
    (command,) = re.findall(r"^pdoc .*$", (ROOT / "docs" / "library.md").read_text(encoding="utf-8"), re.M)
    arguments = shlex.split(command)[1:]
    arguments[arguments.index("--output-directory") + 1] = str(tmp_path)
    subprocess.run([sys.executable, "-m", "pdoc", *arguments], cwd=ROOT, check=True, capture_output=True)
    page = (tmp_path / "bertviz_core.html").read_text(encoding="utf-8")
    assert set(bv.__all__) <= set(re.findall(r'<section id="([^"]+)"', page))
    assert [path.name for path in tmp_path.glob("*/*.html")] == []  # the other modules are no part of it


def test_the_page_for_assistants_has_calls_that_exist():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.S | re.M)
    assert set(re.findall(r"\bbv\.(\w+)", code)) == set(bv.__all__) - {"analyse", "AnalysisResult", "AttentionLines"}
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    checked = 0
    for call in calls:
        name = ast.unparse(call.func)
        if name.startswith("bv."):
            function = operator.attrgetter(name.removeprefix("bv."))(bv)
            inspect.signature(function).bind(*call.args, **{each.arg: each.value for each in call.keywords})
            checked += 1
    assert checked == 8
    for attribute in re.findall(r"^result\.(\w+)", code, re.M):
        assert hasattr(bv.AnalysisResult, attribute), attribute
    for path in re.findall(r"\]\((\S+)\)", text):
        assert (ROOT / path).is_file(), path
