"""Why a statement of a paper does not hold here: the paper, our experiment, or not known.

Every statement of a stored study that does not hold has one ruling, with the experiment that
decided it or would. Numbers in a ruling are looked up in the stored documents, never typed.
"""

from __future__ import annotations

from . import collision_derivatives, contact_models, gjk, stiff_contact
from .ruling import Kind, Ruling

RULINGS: dict[str, tuple[Ruling, ...]] = {
    "contact-models": contact_models.RULINGS,
    "stiff-contact": stiff_contact.RULINGS,
    "gjk": gjk.RULINGS,
    "collision-derivatives": collision_derivatives.RULINGS,
    "differentiable": (),
}
"""Study -> its rulings."""

__all__ = ["RULINGS", "Kind", "Ruling"]
