"""`unveil serve`: the analyses of this package in a browser, for people who do not program.

- `app.py`: `create_app`, the program behind the pages; `serve.py`: `serve`, which runs it
- `pages.py`: what a person sees; `api.py`: the same as JSON
- `store.py`: analyses as folders; `asked.py`: what a person asked of a table
- `jobs.py`: the queue, one process per job; `worker.py`: such a process; `tasks.py`: what it may do
- `events.py`: progress, sent to the browser as it comes
- `drawing.py`: networks as places and curves; `questions.py`: what the playground asks
- `lines.py`: the command and the Python lines that give the same
- `safety.py`: who may ask, how often, and what a browser may load; `limits.py`: all limits
- `templates/`, `static/`, `library/`: pages, scripts and styles, and texts to read

No analysis is made here: every task is a call that the command line and Python users make too.
"""

from unveil.web.limits import Limits

__all__ = ["Limits"]
