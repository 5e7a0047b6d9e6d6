"""The main job: which variables are missing, where, with how many states, and what they mean.

- `call.py`: `discover`, everything in one call
- `procedure.py`: the rounds of looking and keeping; `settings.py`: what can be set
- `looking.py`: one round, from places to the best candidate; `workers.py`: side by side
- `starting.py`: where candidates begin; `adapting.py`: the network around one
- `polishing.py`: larger changes to the best; `observed.py`: the network they have to beat
- `evaluation.py`: what one candidate is worth
- `evidence.py`: whether it is warranted
- `meaning.py`: what its states mean
- `memory.py`: rounds as JSON, to go on after an interruption; `folder.py`: `RunFolder`, where they
  are kept
"""

from unveil.discovery.call import DiscoveryReport, discover
from unveil.discovery.evidence import Evidence, StrawMan
from unveil.discovery.folder import RunFolder
from unveil.discovery.meaning import Meaning, StateProfile, Trait, meaning_of
from unveil.discovery.memory import rounds_as_json, rounds_from_json
from unveil.discovery.procedure import Discovery, Round, discover_networks
from unveil.discovery.settings import Settings

__all__ = [
    "Discovery",
    "DiscoveryReport",
    "Evidence",
    "Meaning",
    "Round",
    "RunFolder",
    "Settings",
    "StateProfile",
    "StrawMan",
    "Trait",
    "discover",
    "discover_networks",
    "meaning_of",
    "rounds_as_json",
    "rounds_from_json",
]
