"""Element kernels: energy, nodal forces, tangent stiffness and its derivative, mass.

Three tetrahedra share the kernels:

- `tet4`: linear, one quadrature point. Locks in bending and near incompressibility.
- `tet10`: quadratic, four points. Accurate, but stiff near incompressibility.
- `tet10_mean`: quadratic, whose theta (see `material.py`) is the element's mean:

      E = sum_q w_q psi_own(F_q) + lambda V / 2 theta_bar^2,  theta_bar = sum_q w_q theta(F_q) / V.

  It comes from an energy, so force, tangent and compliance keep their symmetry, and it does
  not lock: the default.

With p = lambda theta, t_a = dtheta/dx_a and spatial gradients, the tangent of two nodes a, b is

    K_ab = sum_q w_q (d2psi_own + p d2theta)_ab + lambda V tbar_a tbar_b'   (mean)
         = sum_q w_q (d2psi_own + p d2theta + lambda t t')_ab               (otherwise).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.fem.material import (
    COROTATIONAL,
    FAST,
    NEO_HOOKEAN,
    determinant,
    energies,
    rotation,
    stresses,
    stretch_rate_inverse,
)

U = np.uint64


@njit(cache=True, fastmath=FAST)
def _deformation_gradient(x, elements, gradients, e, q, F):
    """F = sum_a x_a (x) dN_a/dX at quadrature point q of element e."""
    f00 = f01 = f02 = f10 = f11 = f12 = f20 = f21 = f22 = 0.0
    for a in range(elements.shape[1]):
        node = U(elements[e, a])
        x0, x1, x2 = x[node, 0], x[node, 1], x[node, 2]
        g0, g1, g2 = gradients[e, q, a, 0], gradients[e, q, a, 1], gradients[e, q, a, 2]
        f00 += x0 * g0
        f01 += x0 * g1
        f02 += x0 * g2
        f10 += x1 * g0
        f11 += x1 * g1
        f12 += x1 * g2
        f20 += x2 * g0
        f21 += x2 * g1
        f22 += x2 * g2
    F[0, 0], F[0, 1], F[0, 2] = f00, f01, f02
    F[1, 0], F[1, 1], F[1, 2] = f10, f11, f12
    F[2, 0], F[2, 1], F[2, 2] = f20, f21, f22


@njit(cache=True, nogil=True)
def energy(x, elements, gradients, weights, law, mu, lam, mean):
    """Elastic energy [J], infinite if an element is inverted.

    Args:
        x: Node positions [m], shape (n_nodes, 3).
        elements: Nodes of each element, shape (n_elements, n_en).
        gradients: dN/dX at the quadrature points [1/m], shape (n_elements, n_q, n_en, 3).
        weights: Volume of each quadrature point [m^3], shape (n_elements, n_q).
        law: Material law of each element (`material.LAWS`), shape (n_elements,).
        mu: Shear modulus [Pa], shape (n_elements,).
        lam: First Lame constant [Pa], shape (n_elements,).
        mean: Whether theta is the element's mean.
    """
    F, R, work = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    total = 0.0
    for e in range(elements.shape[0]):
        volume = dilatation = 0.0
        for q in range(weights.shape[1]):
            _deformation_gradient(x, elements, gradients, e, q, F)
            if not determinant(F) > 0.0:
                return np.inf
            own, theta = energies(law[e], mu[e], F, R, work)
            w = weights[e, q]
            total += w * own
            volume += w
            if mean:
                dilatation += w * theta
            else:
                total += 0.5 * lam[e] * w * theta * theta
        if mean:
            total += 0.5 * lam[e] * dilatation * dilatation / volume
    return total


@njit(cache=True, nogil=True, fastmath=FAST, boundscheck=False)
def force_and_stiffness(x, elements, gradients, weights, law, mu, lam, mean, slots, force, blocks):
    """Add the internal force and the tangent stiffness of all elements that are not Neo-Hookean.

    Those are left to `neo_hookean.py`. Arguments as in `energy`, and

    Args:
        slots: Stiffness block of each node pair (a >= b, row by row), -1 for none, shape
            (n_elements, n_en (n_en + 1) / 2). Pass zero rows for the force alone.
        force: Internal force dE/dx [N], added to, shape (n_nodes, 3).
        blocks: Tangent stiffness d2E/dx2 [N/m], added to, shape (n_blocks, 3, 3).

    Returns:
        The smallest J. If it is not positive, what was added is meaningless.
    """
    n_elements, n_en = elements.shape
    n_q = weights.shape[1]
    with_stiffness = slots.shape[0] > 0
    F, P, T, R, work = (
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
    )
    t, tbar, f = np.empty((n_en, 3)), np.empty((n_en, 3)), np.empty((n_en, 3))
    k = np.empty((n_en * (n_en + 1) // 2, 9))
    smallest = np.inf
    for e in range(n_elements):
        if law[e] == NEO_HOOKEAN:
            continue
        pressure = volume = 0.0
        if mean:
            for q in range(n_q):
                _deformation_gradient(x, elements, gradients, e, q, F)
                J = determinant(F)
                if not J > 0.0:
                    return J
                volume += weights[e, q]
                pressure += weights[e, q] * energies(law[e], mu[e], F, R, work)[1]
            pressure *= lam[e] / volume
        for a in range(n_en):
            for i in range(3):
                f[a, i] = tbar[a, i] = 0.0
        if with_stiffness:
            for pair in range(k.shape[0]):
                for i in range(9):
                    k[pair, i] = 0.0
        for q in range(n_q):
            w = weights[e, q]
            _deformation_gradient(x, elements, gradients, e, q, F)
            J = determinant(F)
            smallest = min(smallest, J)
            if not J > 0.0:
                return J
            if not mean:
                pressure = lam[e] * energies(law[e], mu[e], F, R, work)[1]
            stresses(law[e], mu[e], F, J, P, T, R)
            for a in range(n_en):
                g0, g1, g2 = gradients[e, q, a, 0], gradients[e, q, a, 1], gradients[e, q, a, 2]
                for i in range(3):
                    own = P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2
                    vol = T[i, 0] * g0 + T[i, 1] * g1 + T[i, 2] * g2
                    f[a, i] += w * (own + pressure * vol)
                    t[a, i] = vol
                    tbar[a, i] += w * vol
            if with_stiffness:
                G = gradients[e, q]
                if law[e] == COROTATIONAL:
                    _stiffness_corotational(k, G, F, R, w, mu[e], pressure)
                else:
                    _stiffness_st_venant_kirchhoff(k, G, F, R, w, mu[e], pressure)
                if not mean:
                    _add_outer(k, t, w * lam[e])
        if mean and with_stiffness:
            _add_outer(k, tbar, lam[e] / volume)
        for a in range(n_en):
            node = U(elements[e, a])
            for i in range(3):
                force[node, i] += f[a, i]
        if with_stiffness:
            for pair in range(k.shape[0]):
                slot = slots[e, pair]
                if slot >= 0:
                    for i in range(3):
                        for j in range(3):
                            blocks[U(slot), i, j] += k[pair, 3 * i + j]
    return smallest


@njit(cache=True, fastmath=FAST, boundscheck=False)
def _add_outer(k, t, scale):
    """k_ab += scale t_a t_b'."""
    pair = U(0)
    for a in range(t.shape[0]):
        a0, a1, a2 = scale * t[a, 0], scale * t[a, 1], scale * t[a, 2]
        for b in range(a + 1):
            b0, b1, b2 = t[b, 0], t[b, 1], t[b, 2]
            k[pair, 0] += a0 * b0
            k[pair, 1] += a0 * b1
            k[pair, 2] += a0 * b2
            k[pair, 3] += a1 * b0
            k[pair, 4] += a1 * b1
            k[pair, 5] += a1 * b2
            k[pair, 6] += a2 * b0
            k[pair, 7] += a2 * b1
            k[pair, 8] += a2 * b2
            pair += U(1)


@njit(cache=True, fastmath=FAST, boundscheck=False)
def _stiffness_st_venant_kirchhoff(k, G, F, S, w, mu, p):
    """w [(G_a . (S + p I) G_b) I + mu (F G_b)(F G_a)' + mu (G_a . G_b) F F'], S = 2 mu E."""
    n_en = G.shape[0]
    FG = np.empty((n_en, 3))
    B = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for m in range(3):
                B[i, j] += F[i, m] * F[j, m]
    for a in range(n_en):
        for i in range(3):
            FG[a, i] = F[i, 0] * G[a, 0] + F[i, 1] * G[a, 1] + F[i, 2] * G[a, 2]
    pair = U(0)
    for a in range(n_en):
        for b in range(a + 1):
            dot = G[a, 0] * G[b, 0] + G[a, 1] * G[b, 1] + G[a, 2] * G[b, 2]
            s = p * dot
            for i in range(3):
                s += G[a, i] * (S[i, 0] * G[b, 0] + S[i, 1] * G[b, 1] + S[i, 2] * G[b, 2])
            for i in range(3):
                for j in range(3):
                    k[pair, 3 * i + j] += w * (
                        mu * (FG[b, i] * FG[a, j] + dot * B[i, j]) + (s if i == j else 0.0)
                    )
            pair += U(1)


@njit(cache=True, fastmath=FAST, boundscheck=False)
def _stiffness_corotational(k, G, F, R, w, mu, p):
    """w [2 mu (G_a . G_b) I + (p - 2 mu) C_a' D C_b], C_a = [G_a]x R', D as in the spin of R."""
    n_en = G.shape[0]
    D, C, DC = np.empty((3, 3)), np.empty((n_en, 3, 3)), np.empty((3, 3))
    stretch_rate_inverse(F, R, D)
    for a in range(n_en):
        for j in range(3):
            C[a, 0, j] = G[a, 1] * R[j, 2] - G[a, 2] * R[j, 1]
            C[a, 1, j] = G[a, 2] * R[j, 0] - G[a, 0] * R[j, 2]
            C[a, 2, j] = G[a, 0] * R[j, 1] - G[a, 1] * R[j, 0]
    pair = U(0)
    for a in range(n_en):
        for b in range(a + 1):
            dot = G[a, 0] * G[b, 0] + G[a, 1] * G[b, 1] + G[a, 2] * G[b, 2]
            for i in range(3):
                for j in range(3):
                    DC[i, j] = D[i, 0] * C[b, 0, j] + D[i, 1] * C[b, 1, j] + D[i, 2] * C[b, 2, j]
            for i in range(3):
                for j in range(3):
                    spin = C[a, 0, i] * DC[0, j] + C[a, 1, i] * DC[1, j] + C[a, 2, i] * DC[2, j]
                    k[pair, 3 * i + j] += w * ((p - 2.0 * mu) * spin + (2.0 * mu * dot if i == j else 0.0))
            pair += U(1)


@njit(cache=True, nogil=True)
def third_derivative(x, elements, gradients, weights, law, mu, lam, mean, left, right, out):
    """Add the contraction of the energy's third derivative, d(left' K right)/dx [N/m x unit^2].

    Args:
        left, right: Nodal vectors, shape (n_nodes, 3).
        out: Added to, shape (n_nodes, 3).

    Other arguments as in `energy`.
    """
    n_elements, n_en = elements.shape
    n_q = weights.shape[1]
    F, A, B = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    T1 = np.empty((n_q, 3, 3))
    TA, TB = np.empty((n_q, 3, 3)), np.empty((n_q, 3, 3))
    own3, theta3 = np.empty((n_q, 3, 3)), np.empty((n_q, 3, 3))
    theta, ta, tb, tab = np.empty(n_q), np.empty(n_q), np.empty(n_q), np.empty(n_q)
    Q = np.empty((3, 3))
    for e in range(n_elements):
        for q in range(n_q):
            _deformation_gradient(x, elements, gradients, e, q, F)
            _deformation_gradient(left, elements, gradients, e, q, A)
            _deformation_gradient(right, elements, gradients, e, q, B)
            theta[q] = _point_derivatives(law[e], mu[e], F, A, B, T1[q], TA[q], TB[q], own3[q], theta3[q])
            ta[q], tb[q], tab[q] = np.sum(T1[q] * A), np.sum(T1[q] * B), np.sum(TA[q] * B)
        w = weights[e]
        volume = np.sum(w)
        m, ma, mb, mab = np.sum(w * theta), np.sum(w * ta), np.sum(w * tb), np.sum(w * tab)
        for q in range(n_q):
            if mean:
                p, pa, pb, pab = m / volume, ma / volume, mb / volume, mab / volume
            else:
                p, pa, pb, pab = theta[q], ta[q], tb[q], tab[q]
            Q[:] = own3[q] + lam[e] * (p * theta3[q] + pa * TB[q] + pb * TA[q] + pab * T1[q])
            G = gradients[e, q]
            for a in range(n_en):
                for i in range(3):
                    out[elements[e, a], i] += w[q] * (
                        Q[i, 0] * G[a, 0] + Q[i, 1] * G[a, 1] + Q[i, 2] * G[a, 2]
                    )


@njit(cache=True)
def _point_derivatives(law, mu, F, A, B, T1, TA, TB, own3, theta3):
    """Derivatives at one point along A and B: T1 = theta', TA = theta''[A], TB = theta''[B],
    theta3 = theta'''[A, B], own3 = psi_own'''[A, B]. Returns theta."""
    P, R, work = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    _, theta = energies(law, mu, F, R, work)
    stresses(law, mu, F, determinant(F), P, T1, R)
    if law == NEO_HOOKEAN:
        inverse = T1.T.copy()
        MA, MB = inverse @ A, inverse @ B
        TA[:] = -(MA @ inverse).T
        TB[:] = -(MB @ inverse).T
        theta3[:] = ((MA @ MB + MB @ MA) @ inverse).T
        own3[:] = -mu * theta3
    elif law == COROTATIONAL:
        D = np.empty((3, 3))
        rotation(F, R, work)
        stretch_rate_inverse(F, R, D)
        _trace_of_stretch(F, R, D, A, B, TA, TB, theta3)
        own3[:] = -2.0 * mu * theta3
    else:
        TA[:] = A
        TB[:] = B
        theta3[:] = 0.0
        EA, EB = 0.5 * (F.T @ A + A.T @ F), 0.5 * (F.T @ B + B.T @ F)
        EAB = 0.5 * (A.T @ B + B.T @ A)
        own3[:] = 2.0 * mu * (A @ EB + B @ EA + F @ EAB)
    return theta


@njit(cache=True)
def _axial(M):
    """Vector v with v x y = (M - M') y."""
    return np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]])


@njit(cache=True)
def _trace_of_stretch(F, R, D, A, B, TA, TB, third):
    """Second and third derivatives of sigma(F) = tr S: dR = R [D axial(R'dF)]x."""
    spin_a, spin_b = D @ _axial(R.T @ A), D @ _axial(R.T @ B)
    TA[:] = R @ _cross(spin_a)
    TB[:] = R @ _cross(spin_b)
    C = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            C[:] = 0.0
            C[i, j] = 1.0
            spin_c = D @ _axial(R.T @ C)
            turn = _cross(spin_c)
            dS = -turn @ (R.T @ F) + R.T @ C
            dM = np.trace(dS) * np.eye(3) - 0.5 * (dS + dS.T)
            axial_a, axial_b = _axial(-turn @ (R.T @ A)), _axial(-turn @ (R.T @ B))
            third[i, j] = axial_a @ spin_b + axial_b @ spin_a - spin_a @ (dM @ spin_b)


@njit(cache=True)
def _cross(v):
    """Matrix [v]x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
