"""Compiled hot loops (numba), each beside its plain NumPy twin (`*_plain`).

Kernels take and return arrays and numbers: no objects, no tables, no checks. They are called once
per family or per block of rows. Tests compare every kernel with its twin.
"""
