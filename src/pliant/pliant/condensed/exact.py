"""The exact condensed model: an equilibrium of the finite-element system, packed for control."""

from __future__ import annotations

from pliant.condensed.model import CondensedModel, Source, free_state
from pliant.errors import PliantError
from pliant.fem import State, System


def condense(
    system: System,
    state: State,
    *,
    robot: str,
    robot_hash: str,
    effectors: tuple[str, ...],
    stamp: float = 0.0,
) -> CondensedModel:
    """Condense a finite-element system at an equilibrium (Ménager et al. 2023, eqs. 1-3 and 6).

    The compliance is W = H K^-1 H' with the exact tangent K, the cables' geometric stiffness
    included and without friction. Eq. 2's free configuration enters as the extrapolation of
    the equilibrium to zero load, delta_free = delta - W lambda.

    Args:
        system: The system.
        state: One of its equilibria.
        robot: Name of the robot.
        robot_hash: Hash of its file and mesh.
        effectors: Names of the effectors, length n_e.
        stamp: Time of the state [s].

    Raises:
        PliantError: If an actuator has friction: W would not be symmetric.
    """
    if not system.frictionless:
        raise PliantError(
            f"{robot!r}: a condensed model has no friction; build it from a system without drag"
        )
    x_e_free, delta_a_free = free_state(
        state.compliance, state.effector, state.course, state.effort, state.effector_force
    )
    return CondensedModel(
        robot=robot,
        robot_hash=robot_hash,
        source=Source.FEM,
        stamp=stamp,
        time_step=0.0,
        effectors=effectors,
        actuators=tuple(a.name for a in system.actuators),
        w=state.compliance,
        x_e=state.effector,
        x_e_free=x_e_free,
        delta_a=state.course,
        delta_a_free=delta_a_free,
        lambda_a=state.effort,
        lambda_e=state.effector_force,
        residual=state.residual,
        converged=state.converged,
    )
