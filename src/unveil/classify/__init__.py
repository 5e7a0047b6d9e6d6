"""Predicting one column: classifiers that are Bayesian networks.

- `learn.py`: `learn_classifier`, the one call; `recipes.py`: the ways it can go; `trial.py`: how
  they are compared
- `folder.py`: a run that can be taken up again
- `structure.py`: naive Bayes, TAN, k-dependence; `search.py`: structures chosen by leaving rows out
- `families.py`: counts, smoothed tables, every row left out in one pass; `discriminative.py`:
  weights for the conditional likelihood; `networks.py`: both as networks; `hidden.py`: with hidden
  variables
- `classifier.py`: `Classifier`, which predicts; `evidence.py`: why, in bits
- `judgement.py`: accuracy, log-loss, calibration, ROC; `judging.py`: on rows left out;
  `importance.py`: what each predictor is worth
- `columns.py`, `cuts.py`: rows as the learners see them, numbers cut where the class changes
"""

from unveil.classify.classifier import Classifier
from unveil.classify.columns import Columns, columns_of
from unveil.classify.cuts import class_cuts
from unveil.classify.evidence import CellWeight, Weighing
from unveil.classify.folder import TrialFolder
from unveil.classify.importance import Importance
from unveil.classify.judgement import CalibrationBin, Judgement, RocCurve, judged
from unveil.classify.judging import leave_one_out
from unveil.classify.learn import LearnedClassifier, learn_classifier
from unveil.classify.recipes import MODELS, Recipe
from unveil.classify.structure import Structure
from unveil.classify.trial import Trial

__all__ = [
    "MODELS",
    "CalibrationBin",
    "CellWeight",
    "Classifier",
    "Columns",
    "Importance",
    "Judgement",
    "LearnedClassifier",
    "Recipe",
    "RocCurve",
    "Structure",
    "Trial",
    "TrialFolder",
    "Weighing",
    "class_cuts",
    "columns_of",
    "judged",
    "learn_classifier",
    "leave_one_out",
]
