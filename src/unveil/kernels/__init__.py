"""Compiled hot loops (numba); the tests have a plain twin or an oracle for each.

Kernels take and return arrays and numbers: no objects, no tables, no checks. They are called once
per family or per block of rows. Only `propagate_logs` is plain NumPy: it takes the few rows whose
probabilities are too small for `propagate` and `slices`, and is the twin of both.
"""
