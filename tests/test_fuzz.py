"""A short run of the fuzzing job: damaged files at every door (`make fuzz` goes on for longer)."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "fuzz.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the job uses alarms and limits of Unix")
def test_damaged_files_are_tables_networks_or_errors_of_ours(tmp_path):
    words = [sys.executable, TOOL, "--cases", "40", "--keep", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "720 damaged files at 18 doors, 0 badly taken" in done.stdout
