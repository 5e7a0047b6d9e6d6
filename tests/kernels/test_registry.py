"""Every compiled kernel has a plain twin or an oracle; one battery compares kernels and twins.

A new kernel joins by a function of its name in `twins.py` and one in `cases.py`, or by the name of
the test that checks it against something that cannot be wrong in `ORACLES`. Helpers whose names
begin with an underscore are checked through the kernels that call them.
"""

import copy
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import unveil.kernels

from . import cases, twins

MODULES = [
    importlib.import_module(f"unveil.kernels.{m.name}")
    for m in pkgutil.iter_modules(unveil.kernels.__path__)
]
KERNELS = {
    name: found
    for module in MODULES
    for name, found in vars(module).items()
    if isinstance(found, Dispatcher) and found.py_func.__module__ == module.__name__
    if not name.startswith("_")
}
GAUSSIAN, ORDERS = "score.test_gaussian", "search.test_order_search"
CLASSES, SAMPLING = "kernels.test_moves_and_classes", "infer.approximate.test_sampling"
LOCAL, NOISY_OR = "score.test_local", "model.test_noisy_or"
FIELD = "ib_em.test_mean_field"
LEFT_OUT = "classify.test_left_out"
ORACLES = {
    "complete": (CLASSES, "test_completing_and_extending_every_small_dag"),
    "completed": (CLASSES, "test_completing_and_extending_every_small_dag"),
    "extend": (CLASSES, "test_completing_and_extending_every_small_dag"),
    "extended": (CLASSES, "test_completing_and_extending_every_small_dag"),
    "first_valid_insert": (
        CLASSES,
        "test_the_first_valid_insert_is_the_first_that_no_path_reaches_past_its_clique",
    ),
    "moved": (CLASSES, "test_a_move_is_taken_over_as_if_the_graph_were_new"),
    "helpful_inserts": (CLASSES, "test_helpful_inserts_by_definition"),
    "best_move": (CLASSES, "test_best_move_by_trying_all"),
    "may_add": (CLASSES, "test_legal_moves_by_trying_all"),
    "may_reverse": (CLASSES, "test_legal_moves_by_trying_all"),
    "gaussian_families": (GAUSSIAN, "test_the_likelihood_is_that_of_least_squares"),
    "gaussian_toggles": (GAUSSIAN, "test_toggles_are_differences_of_full_scores"),
    "enter_candidates": (ORDERS, "test_an_order_stands_for_the_graph_of_growing_and_shrinking"),
    "try_positions": (ORDERS, "test_every_position_is_scored_as_its_order"),
    "walk_order": (ORDERS, "test_an_order_stands_for_the_graph_of_growing_and_shrinking"),
    "family_bitmaps": (
        "kernels.test_families_and_bits", "test_family_bitmaps_by_enumeration",
    ),
    "score_toggles": (
        "kernels.test_families_and_bits", "test_scores_of_toggles_from_counts_by_hand",
    ),
    "score_families": (
        "kernels.test_families_and_bits", "test_scores_of_families_from_counts_by_hand",
    ),
    "em_steps": ("em.test_end", "test_a_kernel_takes_the_steps_of_the_loop"),
    "curve": ("model.test_curves", "test_the_derivatives_of_a_curve_by_finite_differences"),
    "start_curve": ("model.test_curves", "test_a_curve_is_found_again"),
    "fit_curve": ("model.test_curves", "test_the_fit_is_as_good_as_a_general_optimiser_finds"),
    "fit_families": ("model.test_curves", "test_a_curve_is_found_again"),
    "curve_posteriors": ("em.test_curves", "test_for_lines_it_is_the_posterior"),
    "curve_squares": ("em.test_curves", "test_expected_squares_by_drawing"),
    "tangent_changes": (
        "ideal.test_profiles", "test_changes_along_the_tangent_are_least_squares",
    ),
    "regress_all": ("em.test_lines", "test_the_m_step_is_least_squares"),
    "expect_layers": ("ideal.test_layers", "test_the_e_step_by_the_joint_normal"),
    "em_layers": ("ideal.test_layers", "test_em_is_factor_analysis_and_never_falls"),
    "choose_parents": (
        "ideal.test_layers", "test_choosing_parents_is_the_best_single_change_again_and_again",
    ),
    "forest_pass": ("infer.test_forest", "test_against_enumeration_and_the_tree"),
    "collected": ("infer.test_enumeration", "test_tree_agrees_with_enumeration"),
    "lanes_for": ("infer.test_enumeration", "test_tree_agrees_with_enumeration"),
    "add_table_family": (LEFT_OUT, "test_one_pass_is_leaving_rows_out_one_by_one"),
    "add_class_family": (LEFT_OUT, "test_one_pass_is_leaving_rows_out_one_by_one"),
    "add_gaussian_family": (LEFT_OUT, "test_one_pass_is_leaving_rows_out_one_by_one"),
    "conditional_loss": ("classify.test_discriminative", "test_gradients_are_exact"),
    "propagate_loopy": ("infer.approximate.test_loopy", "test_polytrees_are_exact"),
    "ascend": (
        "infer.approximate.test_mean_field",
        "test_the_bound_never_falls_and_never_exceeds_the_evidence",
    ),
    "group_worth": (LOCAL, "test_a_group_for_every_configuration_is_the_table"),
    "grow_tree": (LOCAL, "test_trees_grow_as_the_plain_recursion_does"),
    "default_rows": (LOCAL, "test_default_rows_by_trying_all"),
    "noisy_or_objective": (NOISY_OR, "test_the_objective_by_its_formula"),
    "fit_noisy_or": (NOISY_OR, "test_no_other_parameters_fit_better"),
    "field_pass": (FIELD, "test_one_hidden_variable_is_exact"),
    "field_collected": (FIELD, "test_factors_by_enumeration"),
    "field_counted": (FIELD, "test_factors_by_enumeration"),
    "sample_gibbs": (SAMPLING, "test_enumeration_agrees"),
    "sample_forward": (SAMPLING, "test_enumeration_agrees"),
    "find_state": (SAMPLING, "test_a_chain_that_cannot_be_started_is_an_error"),
    "find_states": (SAMPLING, "test_a_chain_that_cannot_be_started_is_an_error"),
}  # fmt: skip


def test_every_kernel_has_a_twin_or_an_oracle():
    own = [f for _, f in inspect.getmembers(twins, inspect.isfunction)]
    twin = {f.__name__ for f in own if f.__module__ == twins.__name__} & set(KERNELS)
    neither = set(KERNELS) - twin - set(ORACLES)
    assert not neither, f"kernels without a twin or an oracle: {sorted(neither)}"
    assert not twin & set(ORACLES), "one of the two is enough"
    assert not set(ORACLES) - set(KERNELS), "oracles of kernels that are gone"
    assert len(KERNELS) > 40


@pytest.mark.parametrize("name", ORACLES)
def test_oracles_exist(name):
    module, test = ORACLES[name]
    assert callable(getattr(importlib.import_module(module), test))


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in ORACLES])
def test_kernel_and_twin_agree(name):
    """Results, and what becomes of the arguments, are the same up to rounding."""
    for seed in range(8):
        given = getattr(cases, name)(np.random.default_rng(seed))
        fast, plain = copy.deepcopy(given), copy.deepcopy(given)
        same(KERNELS[name](*fast), getattr(twins, name)(*plain), f"the result of case {seed}")
        same(fast, plain, f"the arguments of case {seed}")


def same(one, other, what):
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b, what)
    elif one is None or other is None:
        assert one is other, what
    else:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=what)


def test_no_kernel_is_compiled_for_a_literal():
    """`n = 1` before a loop, or a bare number in a call, has a kernel compiled once more.

    Seen where this run compiled anything: write whole(1) there.
    """
    compiled = [
        (found.py_func.__name__, signature)
        for module in MODULES
        for found in vars(module).values()
        if isinstance(found, Dispatcher)
        for signature in found.signatures
    ]
    assert not [pair for pair in compiled if "Literal" in str(pair)]
