"""Hyperelastic laws as functions of the deformation gradient at one point.

Every law is an energy density split into a part of its own and a volumetric part,

    psi(F) = psi_own(F) + lambda / 2 theta(F)^2,

so that one element formulation serves all: theta is taken at each quadrature point, or as the
element's mean (see `element.py`). With p = lambda theta the first Piola-Kirchhoff stress is
P = dpsi_own/dF + p dtheta/dF.

| law                  | psi_own                       | theta      |
|----------------------|-------------------------------|------------|
| neo_hookean          | mu/2 (I1 - 3 - 2 ln J)        | ln J       |
| st_venant_kirchhoff  | mu E:E, E = (F'F - I)/2       | tr E       |
| corotational         | mu |F - R|^2, F = R S         | tr S - 3   |
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.errors import PliantError

NEO_HOOKEAN, ST_VENANT_KIRCHHOFF, COROTATIONAL = 0, 1, 2
LAWS = {"neo_hookean": NEO_HOOKEAN, "st_venant_kirchhoff": ST_VENANT_KIRCHHOFF, "corotational": COROTATIONAL}

FAST = {"contract", "reassoc"}


@dataclass(frozen=True)
class Material:
    """A homogeneous isotropic hyperelastic material.

    Attributes:
        model: One of "neo_hookean", "st_venant_kirchhoff", "corotational".
        young_modulus: Young's modulus at rest [Pa].
        poisson_ratio: Poisson's ratio at rest, in (-1, 0.5).
        density: Mass density at rest [kg/m^3].

    Raises:
        PliantError: If a value is out of its range.
    """

    model: str = "neo_hookean"
    young_modulus: float = 1e6
    poisson_ratio: float = 0.45
    density: float = 1000.0

    def __post_init__(self) -> None:
        if self.model not in LAWS:
            raise PliantError(f"material model: given {self.model!r}; allowed: {', '.join(LAWS)}")
        if not (math.isfinite(self.young_modulus) and self.young_modulus > 0):
            raise PliantError(f"young_modulus: given {self.young_modulus} Pa; allowed: above 0")
        if not -1 < self.poisson_ratio < 0.5:
            raise PliantError(f"poisson_ratio: given {self.poisson_ratio}; allowed: above -1 and below 0.5")
        if not (math.isfinite(self.density) and self.density >= 0):
            raise PliantError(f"density: given {self.density} kg/m^3; allowed: 0 or more")

    @property
    def mu(self) -> float:
        """Shear modulus (second Lame constant) [Pa]."""
        return self.young_modulus / (2 * (1 + self.poisson_ratio))

    @property
    def lam(self) -> float:
        """First Lame constant [Pa]."""
        nu = self.poisson_ratio
        return self.young_modulus * nu / ((1 + nu) * (1 - 2 * nu))


@njit(cache=True, inline="always")
def determinant(F):
    return (
        F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
        - F[0, 1] * (F[1, 0] * F[2, 2] - F[1, 2] * F[2, 0])
        + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
    )


@njit(cache=True, inline="always")
def inverse_transpose(F, J, out):
    """out = F^-T = cofactor(F) / J."""
    s = 1.0 / J
    out[0, 0] = s * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
    out[0, 1] = s * (F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2])
    out[0, 2] = s * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
    out[1, 0] = s * (F[0, 2] * F[2, 1] - F[0, 1] * F[2, 2])
    out[1, 1] = s * (F[0, 0] * F[2, 2] - F[0, 2] * F[2, 0])
    out[1, 2] = s * (F[0, 1] * F[2, 0] - F[0, 0] * F[2, 1])
    out[2, 0] = s * (F[0, 1] * F[1, 2] - F[0, 2] * F[1, 1])
    out[2, 1] = s * (F[0, 2] * F[1, 0] - F[0, 0] * F[1, 2])
    out[2, 2] = s * (F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0])


@njit(cache=True)
def rotation(F, R, work):
    """R of the polar decomposition F = R S, J > 0, by scaled Newton iteration (Higham 1986)."""
    for i in range(3):
        for j in range(3):
            R[i, j] = F[i, j]
    for _ in range(50):
        J = determinant(R)
        inverse_transpose(R, J, work)
        a = b = 0.0
        for i in range(3):
            for j in range(3):
                a += R[i, j] * R[i, j]
                b += work[i, j] * work[i, j]
        gamma = (b / a) ** 0.25
        change = 0.0
        for i in range(3):
            for j in range(3):
                value = 0.5 * (gamma * R[i, j] + work[i, j] / gamma)
                change = max(change, abs(value - R[i, j]))
                R[i, j] = value
        if change < 1e-15:
            break


@njit(cache=True)
def stretch_rate_inverse(F, R, D):
    """D = (tr(S) I - S)^-1 with S = R'F: maps the axial vector of R'dF to the spin of R."""
    S = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                S[i, j] += 0.5 * (R[k, i] * F[k, j] + R[k, j] * F[k, i])
    trace = S[0, 0] + S[1, 1] + S[2, 2]
    for i in range(3):
        for j in range(3):
            S[i, j] = -S[i, j]
        S[i, i] += trace
    inverse_transpose(S, determinant(S), D)


@njit(cache=True)
def energies(law, mu, F, R, work):
    """psi_own [J/m^3] and theta at one point; R and work are scratch."""
    if law == NEO_HOOKEAN:
        log_j = np.log(determinant(F))
        i1 = 0.0
        for i in range(3):
            for j in range(3):
                i1 += F[i, j] * F[i, j]
        return 0.5 * mu * (i1 - 3.0 - 2.0 * log_j), log_j
    if law == ST_VENANT_KIRCHHOFF:
        square = trace = 0.0
        for i in range(3):
            for j in range(3):
                e = 0.5 * (F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j] - (i == j))
                square += e * e
                trace += e * (i == j)
        return mu * square, trace
    rotation(F, R, work)
    square = trace = 0.0
    for i in range(3):
        for j in range(3):
            square += (F[i, j] - R[i, j]) ** 2
            trace += R[i, j] * F[i, j]
    return mu * square, trace - 3.0


@njit(cache=True, fastmath=FAST)
def stresses(law, mu, F, J, P, T, R):
    """P = dpsi_own/dF [Pa] and T = dtheta/dF at one point.

    R holds the rotation afterwards (corotational), or S = 2 mu E (St Venant-Kirchhoff).
    """
    if law == NEO_HOOKEAN:
        inverse_transpose(F, J, T)
        for i in range(3):
            for j in range(3):
                P[i, j] = mu * (F[i, j] - T[i, j])
    elif law == ST_VENANT_KIRCHHOFF:
        for i in range(3):
            for j in range(3):
                e = 0.5 * (F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j] - (i == j))
                R[i, j] = 2.0 * mu * e
        for i in range(3):
            for j in range(3):
                P[i, j] = F[i, 0] * R[0, j] + F[i, 1] * R[1, j] + F[i, 2] * R[2, j]
                T[i, j] = F[i, j]
    else:
        rotation(F, R, P)
        for i in range(3):
            for j in range(3):
                T[i, j] = R[i, j]
                P[i, j] = 2.0 * mu * (F[i, j] - R[i, j])
