"""Classifiers on UCI tables beside scikit-learn and pyAgrum: log-loss, accuracy and time.

    python benchmarks/classify.py --data FOLDER [--tables car,wine] [--output results/classify.json]

Tables that the output file has already, and that are not named, stay in it.

Every tool sees the same folds (stratified, 10, shuffled with the seed), learns from the other nine
and predicts the one left out. What each is given, as its users would:

- unveil: the table as it is, all settings at their defaults (`BayesianNetworkClassifier()`)
- CategoricalNB: empty cells as a category, numbers in 5 quantile bins; GaussianNB: one-hot columns
  and numbers, empty numbers at the mean
- LogisticRegression: one-hot columns and standardised numbers; HistGradientBoosting: categories and
  gaps by its own means, all settings at their defaults
- pyAgrum `BNClassifier`: TAN, naive Bayes and greedy hill climbing (BIC), numbers cut into 5
  quantile bins, a prior of smoothing 1; empty cells as a category, labels that it has not seen as
  the most frequent one

Then: leave-one-out over adult, cut, and predictions for a million rows.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import machine, markdown_table, versions, write_json
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

TABLES = {
    "breast_cancer_ljubljana": "Class",
    "breast_cancer_wisconsin": "Class",
    "car": "class",
    "credit_german": "class",
    "heart_cleveland": "num",
    "heart_statlog": "class",
    "ionosphere": "class",
    "iris": "class",
    "kr_vs_kp": "class",
    "tic_tac_toe": "Class",
    "vehicle": "Class",
    "wine": "class",
    "adult_train": "income",
    "lung_cancer": "class",
    "audiology_train": "class",
    "mushroom": "class",
    "nursery": "class",
    "solar_flare2": "class",
    "soybean_large_train": "Class",
    "splice": "Class",
}
TWELVE = tuple(TABLES)[:12]
"""The tables of the comparison; the others are there to look further."""
IDENTIFIERS = {"splice": ["Instance_name"]}
FOLDS, SEED = 10, 1


def read(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Predictors and class; rows of classes with a single row are left out."""
    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    frame = pd.read_csv(path, skipinitialspace=True).drop(columns=IDENTIFIERS.get(name, []))
    target = TABLES[name] if TABLES[name] in frame else frame.columns[-1]
    frame = frame[frame.groupby(target)[target].transform("size") >= 2].reset_index(drop=True)
    y = frame.pop(target).astype(str)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("object")
    return frame, y


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Empty labels as a category of their own; numbers as they are."""
    made = frame.copy()
    for column in made.select_dtypes(exclude="number"):
        made[column] = made[column].fillna("(empty)").astype(str)
    return made


def few_numbers_as_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers of at most ten values become labels, as in most of these tables they are."""
    made = frame.copy()
    for column in made.select_dtypes("number"):
        values = made[column].dropna()
        if values.nunique() <= 10 and (values == values.round()).all():
            made[column] = made[column].astype("object").where(made[column].notna(), "(empty)")
            made[column] = made[column].astype(str)
    return labelled(made)


def numbers(*steps: Any) -> Any:
    return make_pipeline(SimpleImputer(), *steps), make_column_selector(dtype_include="number")


def labels(*steps: Any) -> Any:
    return make_pipeline(*steps), make_column_selector(dtype_exclude="number")


def peers(frame: pd.DataFrame) -> dict[str, Any]:
    """scikit-learn's classifiers with what they need before them."""
    seen = few_numbers_as_labels(frame)
    levels = {c: sorted(seen[c].unique()) for c in seen.select_dtypes(exclude="number")}
    categories = [levels[c] for c in levels]
    codes = OrdinalEncoder(categories=categories)
    hot = OneHotEncoder(categories=categories, sparse_output=False)
    bins = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
    sizes = [5] * (seen.shape[1] - len(levels)) + [len(c) for c in categories]
    prepared = FunctionTransformer(few_numbers_as_labels)
    found = {
        "CategoricalNB": make_pipeline(
            prepared,
            make_column_transformer(numbers(bins), labels(codes)),
            CategoricalNB(min_categories=sizes),
        ),
        "GaussianNB": make_pipeline(
            prepared, make_column_transformer(numbers(), labels(hot)), GaussianNB()
        ),
        "LogisticRegression": make_pipeline(
            prepared,
            make_column_transformer(numbers(StandardScaler()), labels(hot)),
            LogisticRegression(max_iter=2000),
        ),
    }
    n_labels = len(levels)
    found["HistGradientBoosting"] = make_pipeline(
        prepared,
        make_column_transformer(
            labels(codes), ("passthrough", make_column_selector(dtype_include="number"))
        ),
        HistGradientBoostingClassifier(
            categorical_features=[i < n_labels for i in range(seen.shape[1])], random_state=SEED
        ),
    )
    return found


class Agrum:
    """pyAgrum's classifier on frames: probabilities in the order of the sorted classes."""

    def __init__(self, method: str) -> None:
        self.method = method

    def fit(self, X: pd.DataFrame, y: pd.Series) -> Agrum:
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        self.names = [f"x{i}" for i in range(X.shape[1])]
        processor = DiscreteTypeProcessor(
            defaultDiscretizationMethod="quantile", defaultNumberOfBins=5,
            discretizationThreshold=10,
        )  # fmt: skip
        self.model = BNClassifier(
            type_processor=processor, learningMethod=self.method, prior="Smoothing", priorWeight=1,
        )  # fmt: skip
        self.classes_ = np.array(sorted(y.unique()))
        seen = self._named(X)
        self.known = {c: seen[c].value_counts().index for c in seen.select_dtypes(exclude="number")}
        self.model.fit(seen, np.array(y))
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        rows = self._named(X)
        for column, labels in self.known.items():  # it refuses labels that it has not seen
            rows[column] = rows[column].where(rows[column].isin(labels), labels[0])
        return np.asarray(self.model.predict_proba(rows))

    def _named(self, X: pd.DataFrame) -> pd.DataFrame:
        made = few_numbers_as_labels(X).set_axis(self.names, axis=1)
        for column in made.select_dtypes("number"):
            made[column] = made[column].fillna(made[column].mean()).astype(float)
        return made


def tools(frame: pd.DataFrame, agrum: bool) -> dict[str, Any]:
    from unveil import BayesianNetworkClassifier

    found: dict[str, Any] = {"unveil": BayesianNetworkClassifier(random_state=SEED)}
    found |= peers(frame)
    if agrum:
        found |= {f"pyAgrum {m}": Agrum(m) for m in ("NaiveBayes", "TAN", "GHC")}
    return found


def compare(folder: Path, name: str, agrum: bool) -> dict[str, Any]:
    """Mean log-loss and accuracy of every tool over the folds of a table, and seconds of CPU."""
    frame, y = read(folder, name)
    classes = np.array(sorted(y.unique()))
    record: dict[str, Any] = {"rows": len(y), "columns": frame.shape[1], "tools": {}}
    deal = list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(frame, y))
    for tool, model in tools(frame, agrum).items():
        said = np.zeros((len(y), len(classes)))
        began, failed, chosen = time.process_time(), "", []
        for training, out in deal:
            try:
                model.fit(frame.iloc[training], y.iloc[training])
                part = model.predict_proba(frame.iloc[out])
            except Exception as error:
                failed = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
                break
            said[out[:, None], np.searchsorted(classes, model.classes_)[None]] = part
            if tool == "unveil":
                chosen.append(model.learned_.recipe.words)
        if failed:
            record["tools"][tool] = {"failed": failed}
        else:
            clipped = np.clip(said, 1e-15, None)
            clipped /= clipped.sum(axis=1, keepdims=True)
            record["tools"][tool] = {
                "log_loss": float(log_loss(y, clipped, labels=classes)),
                "accuracy": float(accuracy_score(y, classes[said.argmax(axis=1)])),
                "cpu_seconds": round(time.process_time() - began, 2),
            }
            if chosen:
                record["tools"][tool]["chosen"] = chosen
        print(name, tool, record["tools"][tool], flush=True)
    return record


def speed(folder: Path) -> dict[str, Any]:
    """Leave-one-out over adult, cut; predictions for a million rows."""
    from unveil import learn_classifier
    from unveil.classify import columns_of, leave_one_out
    from unveil.classify.columns import with_cuts
    from unveil.classify.recipes import Recipe, fits_of

    frame, y = read(folder, "adult_train")
    frame["income"] = y
    from unveil import Table

    columns = with_cuts(columns_of(Table.from_frame(frame), "income"))
    found: dict[str, Any] = {"rows": columns.n_rows, "predictors": len(columns.names)}
    for model in ("naive", "tan", "kdb"):
        fit = next(iter(fits_of(Recipe(model), columns)))
        leave_one_out(columns, fit)
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            leave_one_out(columns, fit)
            seconds.append(time.perf_counter() - began)
        found[f"leave-one-out {model}, seconds"] = round(min(seconds), 3)
    million = columns.table.take(np.arange(1_000_000) % columns.n_rows).without("income")
    for model, way in (("naive", "generative"), ("tan", "generative"), ("kdb", "discriminative")):
        learned = learn_classifier(
            columns.table, "income", model, parameters=way, strength=1.0, judge=False, seed=SEED
        )
        learned.classifier.probabilities(million.take(range(1000)))
        began = time.perf_counter()
        learned.classifier.probabilities(million)
        found[f"a million rows, {model} {way}, seconds"] = round(time.perf_counter() - began, 2)
    return found


def summary(tables: dict[str, Any]) -> dict[str, Any]:
    """How often unveil has the better log-loss, and how far it is from gradient boosting.

    A tool without an answer is not counted as beaten.
    """
    mine = {t: r["tools"]["unveil"]["log_loss"] for t, r in tables.items()}

    def beaten(names: tuple[str, ...]) -> int:
        return sum(
            all(mine[t] < r["tools"][n].get("log_loss", -np.inf) for n in names if n in r["tools"])
            for t, r in tables.items()
        )

    naive = ("CategoricalNB", "GaussianNB", "pyAgrum NaiveBayes")
    agrum = ("pyAgrum NaiveBayes", "pyAgrum TAN", "pyAgrum GHC")
    boosting = {t: r["tools"]["HistGradientBoosting"] for t, r in tables.items()}
    right = {t: r["tools"]["unveil"]["accuracy"] for t, r in tables.items()}
    return {
        "tables": len(tables),
        "better log-loss than every naive Bayes": beaten(naive),
        "better log-loss than every pyAgrum": beaten(agrum),
        "better log-loss than logistic regression": beaten(("LogisticRegression",)),
        "better log-loss than gradient boosting": beaten(("HistGradientBoosting",)),
        "mean log-loss less that of gradient boosting": float(
            np.mean([mine[t] - boosting[t]["log_loss"] for t in tables])
        ),
        "mean accuracy less that of gradient boosting": float(
            np.mean([right[t] - boosting[t]["accuracy"] for t in tables])
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the tables")
    parser.add_argument("--tables", default=",".join(TWELVE))
    parser.add_argument("--no-agrum", action="store_true", help="leave pyAgrum out")
    parser.add_argument("--no-speed", action="store_true", help="leave the timings out")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = given.data / "uci" if (given.data / "uci").exists() else given.data
    known = given.output is not None and given.output.exists()
    record: dict[str, Any] = json.loads(given.output.read_text()) if known else {}
    tables = record.get("tables", {})
    tables |= {n: compare(folder, n, not given.no_agrum) for n in given.tables.split(",") if n}
    tables = {n: tables[n] for n in TABLES if n in tables}
    record |= {
        "machine": machine(),
        "versions": versions(["unveil", "scikit-learn", "pyAgrum", "numpy"]),
        "settings": {"folds": FOLDS, "seed": SEED},
        "tables": tables,
        "summary": summary({n: r for n, r in tables.items() if n in TWELVE}),
    }
    if not given.no_speed:
        record["speed"] = speed(folder)
    names = list(next(iter(tables.values()))["tools"])
    rows = [
        [name, *(f"{r['tools'][n].get('log_loss', float('nan')):.4f}" for n in names)]
        for name, r in tables.items()
    ]
    print(markdown_table(["log-loss, nats", *names], rows))
    print(record["summary"], record.get("speed"))
    if given.output:
        write_json(given.output, record)


if __name__ == "__main__":
    main()
