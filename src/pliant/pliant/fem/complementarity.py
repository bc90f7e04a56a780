"""Efforts of actuators that are commanded by their course, and of which some only pull."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def complementary_efforts(W, free_course, command, length_driven, unilateral):
    """Efforts that give the commanded course, or slack: 0 <= lambda _|_ s_free + W lambda - s_c >= 0.

    Principal pivoting by the least index, finite for any matrix with positive principal minors
    (Murty 1974); bilateral actuators stay in the basis.

    Args:
        W: Course per effort [m/N], shape (n_a, n_a).
        free_course: Course without effort [m], shape (n_a,).
        command: Course [m], or the effort [N] itself, of each actuator, shape (n_a,).
        length_driven: Which of the two, shape (n_a,).
        unilateral: Whether the effort cannot be negative, shape (n_a,).

    Returns:
        The efforts [N], shape (n_a,).
    """
    n_a = command.size
    effort = np.where(length_driven, 0.0, command)
    gap = free_course - command
    largest = diagonal = 0.0
    for a in range(n_a):
        for b in range(n_a):
            gap[a] += W[a, b] * effort[b]
        largest, diagonal = max(largest, abs(gap[a])), max(diagonal, abs(W[a, a]))
    tolerance = 1e-12 * (largest + diagonal)
    taut = length_driven.copy()
    for _ in range(2 ** (n_a + 1)):
        active = np.flatnonzero(taut)
        K, s = np.empty((active.size, active.size)), np.empty(active.size)
        for i in range(active.size):
            s[i] = -gap[active[i]]
            for j in range(active.size):
                K[i, j] = W[active[i], active[j]]
        pull = np.linalg.solve(K, s)
        effort[length_driven] = 0.0
        effort[active] = pull
        wrong = -1
        for a in range(n_a):
            if not (length_driven[a] and unilateral[a]):
                continue
            opening = gap[a]
            for i in range(active.size):
                opening += W[a, active[i]] * pull[i]
            if (effort[a] < 0.0) if taut[a] else (opening < -tolerance):
                wrong = a
                break
        if wrong < 0:
            break
        taut[wrong] = not taut[wrong]
    return effort
