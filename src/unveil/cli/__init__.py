"""The command line: thin readers of the library's calls.

`app.py` puts the commands together and shapes every error and warning in one place; each command
has a file of its own.
"""

from unveil.cli.app import main

__all__ = ["main"]
