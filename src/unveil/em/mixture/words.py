"""Mixtures in words: a number of classes, and one line for what a mixture is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unveil.em.mixture.choice import Mixture

__all__ = ["in_classes", "mixture_line"]


def in_classes(k: int) -> str:
    """`1 class`, `2 classes`."""
    return "1 class" if k == 1 else f"{k} classes"


def mixture_line(mixture: Mixture, chosen: bool) -> str:
    """The scores of a mixture in a line that begins with a star if it is the chosen one."""
    m = mixture
    held = "" if m.held_out is None else f", held-out {m.held_out.bits:.4f} bits per row"
    return (
        f"{'*' if chosen else ' '} {in_classes(m.n_classes)}: "
        f"log-likelihood {m.log_likelihood:,.2f}, {m.n_parameters} parameters, "
        f"BIC {m.bic:,.2f}, AIC {m.aic:,.2f}, Cheeseman-Stutz {m.cheeseman_stutz:,.2f}{held} "
        f"({m.n_reached} of {len(m.starts)} starts)"
    )
