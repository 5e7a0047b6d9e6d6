"""The main job: which variables are missing, where, with how many states, and what they mean.

- `call.py`: `discover`, everything in one call; `settings.py`: what can be set
- `procedure.py`: the state of a discovery and its step, one round
- `phases.py`: one round, from places to checked candidates; `workers.py`: side by side,
  in `processes.py` that do what `served.py` says

What a round hands on, in this order:

- `bench.py`: what candidates are tried against; `baseline.py`: the best network without one
- `candidates.py`: places, candidates, refusals and their verdicts
- `narrow.py`: all columns at once, by information-bottleneck EM; `soft.py`: what it leaves
- `places.py`: where to look; `starts.py`: first networks there, by `states.py`
- `adaptation.py`: the network around a candidate; `polish.py`: larger changes to the best
- `check.py`: gaps, and rows left out by `predictions.py`; `redundancy.py`: what is superfluous
- `choice.py`: who goes on, and who is kept

And then:

- `evidence.py`: whether it is warranted; `meaning.py`: what its states mean
- `memory.py`: rounds as JSON, to go on after an interruption; `notes.py`: what was done in a round;
  `told.py`: candidates as JSON; `folder.py`: `RunFolder`, where all this is kept
- `whole.py`: found in drawn rows, judged on all, where rows do not fit in memory
- `patience.py`: limits that bind inside of all this
- `continuous/`: the same for tables of numbers, whose hidden parents are continuous
"""

from unveil.discovery.call import DiscoveryReport, discover
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.continuous import (
    Loading,
    NumberSettings,
    NumbersReport,
    discover_numbers,
)
from unveil.discovery.evidence import Evidence, StrawMan
from unveil.discovery.folder import RunFolder
from unveil.discovery.meaning import Meaning, StateProfile, Trait, meaning_of
from unveil.discovery.memory import rounds_as_json, rounds_from_json
from unveil.discovery.procedure import Discovery, Round, discover_networks
from unveil.discovery.settings import Settings
from unveil.discovery.whole import AllRows

__all__ = [
    "AllRows",
    "Candidate",
    "Discovery",
    "DiscoveryReport",
    "Evidence",
    "Loading",
    "Meaning",
    "NumberSettings",
    "NumbersReport",
    "Place",
    "Refused",
    "Round",
    "RunFolder",
    "Settings",
    "StateProfile",
    "StrawMan",
    "Trait",
    "Verdict",
    "discover",
    "discover_networks",
    "discover_numbers",
    "meaning_of",
    "rounds_as_json",
    "rounds_from_json",
]
