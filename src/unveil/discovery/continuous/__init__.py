"""Hidden parents of continuous tables (thesis Ch. 7).

- `call.py`: `discover_numbers`, everything in one call; `settings.py`: what can be set
- `procedure.py`: where hidden parents belong: two layers, graphs, the better of them
- `curved.py`: the same if columns follow curves; `kinds.py`: lines and curves behind one face
- `evidence.py`: whether they are warranted, and simpler explanations
- `report.py`: `NumbersReport`, the record of it all; `loadings.py`: what hidden variables do to
  their children; `words.py`: the same in words
"""

from unveil.discovery.continuous.call import discover_numbers
from unveil.discovery.continuous.loadings import Loading
from unveil.discovery.continuous.procedure import Found, find_hidden_parents
from unveil.discovery.continuous.report import NumbersReport
from unveil.discovery.continuous.settings import NumberSettings

__all__ = [
    "Found",
    "Loading",
    "NumberSettings",
    "NumbersReport",
    "discover_numbers",
    "find_hidden_parents",
]
