"""What follows from what was seen.

- `posterior.py`: posteriors for one question or for every row of a table; `answer.py`: the answer
- `explain.py`: most probable explanations, MAP of a few variables, posterior draws
- `columns.py`: posteriors and fillings as columns of a table; `parted_columns.py`: of rows that are
  read in pieces, written part by part; `parted.py`: the E-step over parts
- `influence.py`: which finding mattered most, what to ask next
- `intervene.py`: `do`, seeing against doing
- `unseen.py`: what the rows of a table do not show, summed over by one plan: `plan.py` decides by
  `costs.py` who does it (`parts.py`), `rows.py` prepares the rows
- `tree.py`: the junction tree; `reduced.py`: the shorter way for rows that lack the same variables
- `gaussian/`: networks with linear Gaussian variables
- `approximate/`: loopy propagation, mean field, Gibbs, likelihood weighting
"""

from unveil.infer.answer import Posterior
from unveil.infer.columns import fill_in, with_posteriors
from unveil.infer.explain import Explanation, draw_missing, map_of, most_probable
from unveil.infer.influence import bayes_factor, finding_influence, information_about
from unveil.infer.intervene import do
from unveil.infer.parted_columns import write_posteriors
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior
from unveil.infer.tree import JunctionTree

__all__ = [
    "Explanation",
    "JunctionTree",
    "Posterior",
    "bayes_factor",
    "do",
    "draw_missing",
    "fill_in",
    "finding_influence",
    "information_about",
    "joint_posterior",
    "log_likelihoods",
    "map_of",
    "most_probable",
    "posterior",
    "with_posteriors",
    "write_posteriors",
]
