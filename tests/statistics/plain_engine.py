"""An engine as plain as can be: one dictionary of rows, walked over in Python.

It has nothing but what `Statistics` asks for, no kernels and no rows to show, and notes how often
it is called. It joins every battery, so that nothing depends on rows in memory by accident.
"""

import numpy as np

from unveil.statistics import ConditionalMoments, Distinct, GaussianMoments


class PlainEngine:
    """Counts and moments of a table's weighted rows."""

    def __init__(self, table):
        self.variables, self.total_weight = table.variables, table.total_weight
        self._rows = {}
        columns = [table.column(name).tolist() for name in table.names]
        for row, weight in zip(zip(*columns, strict=True), table.row_weights, strict=True):
            self._rows[row] = self._rows.get(row, 0.0) + float(weight)
        self.n_calls = 0
        self.n_sets = 0

    def counts(self, sets):
        self.n_calls += 1
        self.n_sets += len(sets)
        return [self._count(tuple(members)) for members in sets]

    def distinct(self, members):
        self.n_calls += 1
        seen = self._weights(members)
        found = sorted(seen)
        codes = np.array(found, np.int64).reshape(len(found), len(members))
        return Distinct(codes, np.array([seen[row] for row in found]))

    def moments(self, members, by=()):
        self.n_calls += 1
        shape = tuple(self.variables[v].n_states for v in by)
        found = ConditionalMoments(
            np.zeros(shape),
            np.zeros((*shape, len(members))),
            np.zeros((*shape, len(members), len(members))),
        )
        for states in np.ndindex(shape):
            here = {r: w for r, w in self._rows.items() if tuple(r[v] for v in by) == states}
            values = np.array([[row[v] for v in members] for row in here], float)
            weights = np.array(list(here.values()))
            part = GaussianMoments.of_rows(values.reshape(len(here), len(members)), weights)
            found.weights[states], found.means[states] = part.weight, part.mean
            found.scatters[states] = part.scatter
        return found

    def _count(self, members):
        counts = np.zeros([self.variables[v].n_states for v in members])
        for cell, weight in self._weights(members).items():
            counts[cell] = weight
        return counts

    def _weights(self, members):
        seen = {}
        for row, weight in self._rows.items():
            cell = tuple(row[v] for v in members)
            seen[cell] = seen.get(cell, 0.0) + weight
        return seen
