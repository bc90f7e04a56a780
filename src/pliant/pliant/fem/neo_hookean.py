"""The element kernels of the Neo-Hookean law, eight elements at a time.

This is the law that most robots use, and its tangent is what a Newton step spends its time on.
The formulas are those of `element.py` and `material.py`; with g = F^-T G the spatial gradients,

    f_a  = sum_q w_q (mu F + (p - mu) F^-T) G_a,
    K_ab = sum_q w_q (mu (G_a . G_b) I + (mu - p) g_b g_a')  + the volumetric part.

Arrays of lanes are flat; `load` and `store` count in lanes (`lanes.py`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.fem.lanes import LANES, lanes, load, load_at, store, store_at, transpose
from pliant.fem.material import FAST, NEO_HOOKEAN

U = np.uint64


@njit(cache=True, nogil=True, fastmath=FAST, boundscheck=False, error_model="numpy")
def smallest_jacobian(x, elements, lane_gradients, n_q):
    """Smallest J = det F over all quadrature points; below 0 an element is inverted.

    Args:
        x: Node positions [m], shape (n_nodes, 3).
        elements: Nodes of each element, shape (n_elements, n_en).
        lane_gradients: dN/dX at the quadrature points [1/m], lanes of shape (n_batches, n_q, n_en, 3).
        n_q: Number of quadrature points.
    """
    n_elements, n_en = elements.shape
    X, J = np.empty(3 * LANES * n_en), np.empty(LANES)
    smallest = np.inf
    for first in range(0, n_elements, LANES):
        _gather(x, elements, first, X)
        for q in range(n_q):
            F = _deformation_gradient(X, lane_gradients, 3 * n_en * (first // LANES * n_q + q), n_en)
            C = _cofactors(F)
            store(J, 0, F[0] * C[0] + F[1] * C[1] + F[2] * C[2])
            for lane in range(LANES):
                smallest = min(smallest, J[lane])
    return smallest


@njit(cache=True, nogil=True, fastmath=FAST, boundscheck=False, error_model="numpy")
def force_and_stiffness(x, elements, lane_gradients, weights, law, mu, lam, mean, slots, force, blocks):
    """Add the internal force and the tangent stiffness of all Neo-Hookean elements.

    Arguments and result as `element.force_and_stiffness`, with `lane_gradients` as above.
    """
    n_elements, n_en = elements.shape
    n_q = weights.shape[1]
    X, f, tbar = np.empty(3 * LANES * n_en), np.empty(3 * LANES * n_en), np.empty(3 * LANES * n_en)
    modulus = np.empty(2 * LANES)
    w, J, p = np.empty(n_q * LANES), np.empty(n_q * LANES), np.empty(n_q * LANES)
    F, T = np.empty(9 * n_q * LANES), np.empty(9 * n_q * LANES)
    g, A = np.empty(3 * n_q * n_en * LANES), np.empty(9 * n_q * LANES)
    k = np.empty(9 * LANES * (n_en * (n_en + 1) // 2))
    smallest = np.inf
    for first in range(0, n_elements, LANES):
        n_lanes = min(LANES, n_elements - first)
        used = False
        for lane in range(n_lanes):
            used |= law[first + lane] == NEO_HOOKEAN
        if not used:
            continue
        G = 3 * n_q * n_en * (first // LANES)
        _gather(x, elements, first, X)
        for lane in range(LANES):
            e = min(first + lane, n_elements - 1)
            modulus[lane], modulus[LANES + lane] = mu[e], lam[e]
            for q in range(n_q):
                w[U(LANES * q + lane)] = weights[e, q]
        _kinematics(X, lane_gradients, G, n_q, n_en, F, T, J)
        for lane in range(n_lanes):
            if law[first + lane] == NEO_HOOKEAN:
                for q in range(n_q):
                    if not J[LANES * q + lane] > 0.0:
                        return J[LANES * q + lane]
                    smallest = min(smallest, J[LANES * q + lane])
        volume = _pressures(J, w, load(modulus, 1), mean, p)
        _forces(lane_gradients, G, F, T, w, p, load(modulus, 0), g, tbar, f)
        if slots.shape[0] > 0:
            _stiffness(lane_gradients, G, w, p, modulus, volume, mean, g, tbar, A, k)
        for lane in range(n_lanes):
            if law[first + lane] == NEO_HOOKEAN:
                _scatter(elements, slots, first + lane, lane, f, k, force, blocks)
    return smallest


@njit(cache=True, boundscheck=False)
def _gather(x, elements, first, X):
    """Node positions of the elements of a batch, lanes of shape (n_en, 3)."""
    for lane in range(LANES):
        e = min(first + lane, elements.shape[0] - 1)
        for a in range(elements.shape[1]):
            node = U(elements[e, a])
            for i in range(3):
                X[U(LANES * (3 * a + i) + lane)] = x[node, i]


@njit(cache=True, boundscheck=False)
def _scatter(elements, slots, e, lane, f, k, force, blocks):
    """Add the force and the stiffness of one lane to those of the body."""
    for a in range(elements.shape[1]):
        node = U(elements[e, a])
        for i in range(3):
            force[node, i] += f[U(LANES * (3 * a + i) + lane)]
    if slots.shape[0] == 0:
        return
    flat = blocks.reshape(blocks.size)
    for pair in range(slots.shape[1]):
        slot = slots[e, pair]
        if slot >= 0:
            at = 9 * LANES * pair
            store_at(flat, 9 * slot, load_at(flat, 9 * slot) + load_at(k, at + LANES * lane))
            flat[U(9 * slot + 8)] += k[U(at + LANES * 8 + lane)]


@njit(cache=True, fastmath=FAST)
def _deformation_gradient(X, gradients, G, n_en):
    """F = sum_a x_a (x) dN_a/dX, row by row; G is where the gradients of the point start."""
    f00 = f01 = f02 = f10 = f11 = f12 = f20 = f21 = f22 = lanes(0.0)
    for a in range(n_en):
        x0, x1, x2 = _load3(X, 3 * a)
        g0, g1, g2 = _load3(gradients, G + 3 * a)
        f00 += x0 * g0
        f01 += x0 * g1
        f02 += x0 * g2
        f10 += x1 * g0
        f11 += x1 * g1
        f12 += x1 * g2
        f20 += x2 * g0
        f21 += x2 * g1
        f22 += x2 * g2
    return f00, f01, f02, f10, f11, f12, f20, f21, f22


@njit(cache=True, fastmath=FAST)
def _cofactors(F):
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = F
    return (
        f11 * f22 - f12 * f21, f12 * f20 - f10 * f22, f10 * f21 - f11 * f20,
        f02 * f21 - f01 * f22, f00 * f22 - f02 * f20, f01 * f20 - f00 * f21,
        f01 * f12 - f02 * f11, f02 * f10 - f00 * f12, f00 * f11 - f01 * f10,
    )  # fmt: skip


@njit(cache=True, fastmath=FAST)
def _load3(array, at):
    return load(array, at), load(array, at + 1), load(array, at + 2)


@njit(cache=True, fastmath=FAST)
def _store9(array, at, M, scale):
    """array[at : at + 9] = scale M."""
    store(array, at, scale * M[0])
    store(array, at + 1, scale * M[1])
    store(array, at + 2, scale * M[2])
    store(array, at + 3, scale * M[3])
    store(array, at + 4, scale * M[4])
    store(array, at + 5, scale * M[5])
    store(array, at + 6, scale * M[6])
    store(array, at + 7, scale * M[7])
    store(array, at + 8, scale * M[8])


@njit(cache=True, fastmath=FAST)
def _kinematics(X, gradients, G, n_q, n_en, F, T, J):
    """F, T = F^-T and J at the quadrature points."""
    for q in range(n_q):
        Fq = _deformation_gradient(X, gradients, G + 3 * n_en * q, n_en)
        C = _cofactors(Fq)
        Jq = Fq[0] * C[0] + Fq[1] * C[1] + Fq[2] * C[2]
        store(J, q, Jq)
        _store9(F, 9 * q, Fq, 1.0)
        _store9(T, 9 * q, C, 1.0 / Jq)


@njit(cache=True, fastmath=FAST)
def _pressures(J, w, lam, mean, p):
    """p = lambda theta at the quadrature points, theta = ln J; returns the volumes."""
    for i in range(J.size):
        p[i] = np.log(J[i])
    volume = mean_theta = lanes(0.0)
    for q in range(J.size // LANES):
        volume += load(w, q)
        mean_theta += load(w, q) * load(p, q)
    for q in range(J.size // LANES):
        if mean:
            store(p, q, lam * mean_theta / volume)
        else:
            store(p, q, lam * load(p, q))
    return volume


@njit(cache=True, fastmath=FAST)
def _forces(gradients, G, F, T, w, p, mu, g, tbar, f):
    """Nodal forces f_a, spatial gradients g_a at each point and tbar_a = sum_q w g_a."""
    n_q = w.size // LANES
    n_en = f.size // (3 * LANES)
    for i in range(f.size):
        f[i] = tbar[i] = 0.0
    for q in range(n_q):
        wq = load(w, q)
        own, vol = wq * mu, wq * (load(p, q) - mu)
        f00, f01, f02 = _load3(F, 9 * q)
        f10, f11, f12 = _load3(F, 9 * q + 3)
        f20, f21, f22 = _load3(F, 9 * q + 6)
        t00, t01, t02 = _load3(T, 9 * q)
        t10, t11, t12 = _load3(T, 9 * q + 3)
        t20, t21, t22 = _load3(T, 9 * q + 6)
        p00, p01, p02 = own * f00 + vol * t00, own * f01 + vol * t01, own * f02 + vol * t02
        p10, p11, p12 = own * f10 + vol * t10, own * f11 + vol * t11, own * f12 + vol * t12
        p20, p21, p22 = own * f20 + vol * t20, own * f21 + vol * t21, own * f22 + vol * t22
        for a in range(n_en):
            at, to = 3 * a, 3 * (n_en * q + a)
            g0, g1, g2 = _load3(gradients, G + to)
            s0 = t00 * g0 + t01 * g1 + t02 * g2
            s1 = t10 * g0 + t11 * g1 + t12 * g2
            s2 = t20 * g0 + t21 * g1 + t22 * g2
            store(g, to, s0)
            store(g, to + 1, s1)
            store(g, to + 2, s2)
            store(tbar, at, load(tbar, at) + wq * s0)
            store(tbar, at + 1, load(tbar, at + 1) + wq * s1)
            store(tbar, at + 2, load(tbar, at + 2) + wq * s2)
            store(f, at, load(f, at) + p00 * g0 + p01 * g1 + p02 * g2)
            store(f, at + 1, load(f, at + 1) + p10 * g0 + p11 * g1 + p12 * g2)
            store(f, at + 2, load(f, at + 2) + p20 * g0 + p21 * g1 + p22 * g2)


@njit(cache=True, fastmath=FAST)
def _stiffness(gradients, G, w, p, modulus, volume, mean, g, tbar, A, k):
    """K_ab of the node pairs a >= b, row by row; A is scratch for what belongs to a alone.

    Of each pair k holds the first eight entries lane by lane, then the ninth of all lanes.

    The volumetric part is lambda V tbar_a tbar_b' (mean), or sum_q w lambda g_a g_b'.
    """
    n_q = w.size // LANES
    n_en = tbar.size // (3 * LANES)
    mu, lam = load(modulus, 0), load(modulus, 1)
    together = lam / volume if mean else lanes(0.0)
    pair = 0
    for a in range(n_en):
        for q in range(n_q):
            at, to = 3 * (n_en * q + a), 9 * q
            own, turn, vol = load(w, q) * mu, load(w, q) * (mu - load(p, q)), load(w, q) * lam
            for i in range(3):
                store(A, to + i, own * load(gradients, G + at + i))
                store(A, to + 3 + i, turn * load(g, at + i))
                store(A, to + 6 + i, vol * load(g, at + i))
        v0, v1, v2 = _load3(tbar, 3 * a)
        v0, v1, v2 = together * v0, together * v1, together * v2
        for b in range(a + 1):
            b0, b1, b2 = _load3(tbar, 3 * b)
            k00, k01, k02 = v0 * b0, v0 * b1, v0 * b2
            k10, k11, k12 = v1 * b0, v1 * b1, v1 * b2
            k20, k21, k22 = v2 * b0, v2 * b1, v2 * b2
            s = lanes(0.0)
            for q in range(n_q):
                at, to = 3 * (n_en * q + b), 9 * q
                s += load(A, to) * load(gradients, G + at)
                s += load(A, to + 1) * load(gradients, G + at + 1)
                s += load(A, to + 2) * load(gradients, G + at + 2)
                a0, a1, a2 = _load3(A, to + 3)
                b0, b1, b2 = _load3(g, at)
                k00 += b0 * a0
                k01 += b0 * a1
                k02 += b0 * a2
                k10 += b1 * a0
                k11 += b1 * a1
                k12 += b1 * a2
                k20 += b2 * a0
                k21 += b2 * a1
                k22 += b2 * a2
                if not mean:
                    a0, a1, a2 = _load3(A, to + 6)
                    k00 += a0 * b0
                    k01 += a0 * b1
                    k02 += a0 * b2
                    k10 += a1 * b0
                    k11 += a1 * b1
                    k12 += a1 * b2
                    k20 += a2 * b0
                    k21 += a2 * b1
                    k22 += a2 * b2
            _store9(k, 9 * pair, (k00 + s, k01, k02, k10, k11 + s, k12, k20, k21, k22 + s), 1.0)
            transpose(k, 9 * LANES * pair)
            pair += 1
