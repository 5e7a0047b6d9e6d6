"""How good a network is: on rows it has not seen, against the truth, and arc by arc.

- `log_loss.py`: log-loss in bits per row, and cross-validation
- `divergence.py`: Kullback-Leibler divergence between two networks
- `arcs.py`: what each arc is worth, in numbers and words
- `bootstrap.py`: how sure we are of arcs and of features of the equivalence class
"""

from unveil.evaluate.arcs import ArcWorth, arc_worth
from unveil.evaluate.bootstrap import ArcConfidence, bootstrap_arcs
from unveil.evaluate.divergence import Divergence, divergence
from unveil.evaluate.log_loss import LogLoss, cross_validate, log_loss, paired_gain

__all__ = [
    "ArcConfidence",
    "ArcWorth",
    "Divergence",
    "LogLoss",
    "arc_worth",
    "bootstrap_arcs",
    "cross_validate",
    "divergence",
    "log_loss",
    "paired_gain",
]
