"""unveil: find the variables your table does not have.

Learn Bayesian networks with hidden variables from a table of data. Public names are loaded when
they are first used, so `import unveil` is quick.

    >>> import unveil
    >>> table = unveil.datasets.table("college_plans")
    >>> table.total_weight
    10318.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOM_OF = {
    "Table": "unveil.table",
    "Variable": "unveil.table",
    "open_rows": "unveil.engines",
    "DAG": "unveil.graph",
    "EquivalentSampleSize": "unveil.model",
    "Network": "unveil.model",
    "PriorNetwork": "unveil.model",
    "PseudoCount": "unveil.model",
    "TableCPD": "unveil.model",
    "load": "unveil.formats",
    "save": "unveil.formats",
    "AIC": "unveil.score",
    "BDe": "unveil.score",
    "BDeu": "unveil.score",
    "BIC": "unveil.score",
    "K2": "unveil.score",
    "MDL": "unveil.score",
    "Constraints": "unveil.search",
    "fit": "unveil.learning",
    "learn": "unveil.learning",
    "Settings": "unveil.discovery",
    "discover": "unveil.discovery",
    "fit_em": "unveil.em",
    "latent_classes": "unveil.em",
    "structural_em": "unveil.em",
    "ib_em": "unveil.bottleneck",
    "Classifier": "unveil.classify",
    "learn_classifier": "unveil.classify",
    "BayesianNetwork": "unveil.estimators",
    "BayesianNetworkClassifier": "unveil.estimators",
    "Discretizer": "unveil.estimators",
    "HiddenVariableDiscovery": "unveil.estimators",
    "LatentClassModel": "unveil.estimators",
    "cross_validate": "unveil.evaluate",
    "log_loss": "unveil.evaluate",
}
_ROOMS = (
    "anneal",
    "bottleneck",
    "classify",
    "datasets",
    "discovery",
    "em",
    "engines",
    "errors",
    "estimators",
    "evaluate",
    "formats",
    "graph",
    "hidden",
    "ideal",
    "infer",
    "learning",
    "model",
    "progress",
    "records",
    "report",
    "score",
    "search",
    "statistics",
    "table",
    "trees",
)

__all__ = [*_ROOM_OF, *_ROOMS]

if TYPE_CHECKING:
    from unveil import (
        anneal,
        bottleneck,
        classify,
        datasets,
        discovery,
        em,
        engines,
        errors,
        estimators,
        evaluate,
        formats,
        graph,
        hidden,
        ideal,
        infer,
        learning,
        model,
        progress,
        records,
        report,
        score,
        search,
        statistics,
        table,
        trees,
    )
    from unveil.bottleneck import ib_em
    from unveil.classify import Classifier, learn_classifier
    from unveil.discovery import Settings, discover
    from unveil.em import fit_em, latent_classes, structural_em
    from unveil.engines import open_rows
    from unveil.estimators import (
        BayesianNetwork,
        BayesianNetworkClassifier,
        Discretizer,
        HiddenVariableDiscovery,
        LatentClassModel,
    )
    from unveil.evaluate import cross_validate, log_loss
    from unveil.formats import load, save
    from unveil.graph import DAG
    from unveil.learning import fit, learn
    from unveil.model import (
        EquivalentSampleSize,
        Network,
        PriorNetwork,
        PseudoCount,
        TableCPD,
    )
    from unveil.score import AIC, BIC, K2, MDL, BDe, BDeu
    from unveil.search import Constraints
    from unveil.table import Table, Variable


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(importlib.import_module(_ROOM_OF[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"unveil.{name}")
    raise AttributeError(f"module 'unveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
