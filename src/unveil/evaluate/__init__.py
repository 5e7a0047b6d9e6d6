"""How good a network is, and what it says: on rows it has not seen, against the truth, arc by arc.

- `log_loss.py`: log-loss in bits per row; `cross_validation.py`: the same on rows left out,
  dealt by `folds.py`
- `divergence.py`: Kullback-Leibler divergence between two networks
- `arcs.py`: what each arc is worth, in numbers and words
- `averaging.py`: how probable an arc is over the best structures
- `bootstrap.py`: how sure we are of arcs and of features of the equivalence class
- `agreement.py`: hidden states beside a column that was kept out
- `paths.py`: lines as people read them: standardised weights, R^2, residual checks;
  `column_checks.py`: the same where parents are hidden
- `usual_bic.py`: BIC on the scale of other programs
- `profiles.py`: what sets each state of a hidden variable apart, by `joints.py`;
  `certainty.py`: how surely rows are told apart by its states
- `goodness.py`: G2 and X2, how well the cells of a contingency table are reproduced
"""

from unveil.evaluate.agreement import Agreement, agreement
from unveil.evaluate.arcs import ArcWorth, arc_worth
from unveil.evaluate.averaging import arc_probabilities, average_arcs, structure_weights
from unveil.evaluate.bootstrap import ArcConfidence, bootstrap_arcs
from unveil.evaluate.certainty import Certainty, certainty_of
from unveil.evaluate.column_checks import column_checks
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.divergence import Divergence, divergence
from unveil.evaluate.goodness import GoodnessOfFit, goodness_of_fit
from unveil.evaluate.log_loss import LogLoss, log_loss, paired_gain
from unveil.evaluate.paths import LineCheck, PathDiagram, path_diagram
from unveil.evaluate.profiles import StateProfile, Trait, state_profiles
from unveil.evaluate.usual_bic import usual_bic

__all__ = [
    "Agreement",
    "ArcConfidence",
    "ArcWorth",
    "Certainty",
    "CrossValidation",
    "Divergence",
    "GoodnessOfFit",
    "LineCheck",
    "LogLoss",
    "PathDiagram",
    "StateProfile",
    "Trait",
    "agreement",
    "arc_probabilities",
    "arc_worth",
    "average_arcs",
    "bootstrap_arcs",
    "certainty_of",
    "column_checks",
    "cross_validate",
    "divergence",
    "goodness_of_fit",
    "log_loss",
    "paired_gain",
    "path_diagram",
    "state_profiles",
    "structure_weights",
    "usual_bic",
]
