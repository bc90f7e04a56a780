"""A robot whose equilibrium, compliance and Jacobian are formulas.

Point masses hang on springs that stiffen, U = k d^2/2 + c d^4/4 to the ground and k_link to
their neighbour, and are pulled by elastic cables from fixed winches. With the tension t_i the
course that a winch has wound is s_i = L0_i - |x - p_i| + t_i / k_cable: the toy has what the
real robots have (nonlinear, redundant, unilateral), and its W is H K^-1 H' plus the cables'
own compliance. A friction f loses part of the tension on the way, against the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.condensed import CondensedModel, Source
from pliant.condensed.model import free_state
from pliant.limits import ActuatorLimits

WINCHES = {
    2: [[0.06, 0.0, 0.06], [-0.06, 0.0, 0.06]],
    4: [[0.06, 0.0, 0.06], [0.0, 0.06, 0.06], [-0.06, 0.0, 0.06], [0.0, -0.06, 0.06]],
}
WINCHES[8] = WINCHES[4] + [
    [x, y, -0.06] for x, y, _ in np.dot(WINCHES[4], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
]


@dataclass(frozen=True)
class Toy:
    """Constants: stiffness [N/m], stiffening [N/m3], weight [N], friction, metres."""

    winch: np.ndarray
    mass_of_cable: tuple[int, ...]
    n_masses: int = 1
    stiffness: float = 100.0
    stiffening: float = 2e4
    link: float = 60.0
    weight: float = 0.3
    cable: float = 2e3
    friction: float = 0.0

    @property
    def home(self) -> np.ndarray:
        return np.stack([[0.0, 0.0, -0.05 * i] for i in range(self.n_masses)])


@dataclass(frozen=True)
class Sample:
    """What the toy's sensors say; `position` is the course."""

    position: np.ndarray
    effort: np.ndarray
    effector: np.ndarray
    measured: np.ndarray


def toy(n_cables: int = 4, n_masses: int = 1, **changes: float) -> Toy:
    winch = np.array(WINCHES[n_cables], dtype=float)
    return replace(Toy(winch, tuple(i % n_masses for i in range(n_cables)), n_masses), **changes)


def limits(toy: Toy, **changes: float) -> ActuatorLimits:
    values = {
        "effort_min": 0.0,
        "effort_max": 6.0,
        "course_min": -0.03,
        "course_max": 0.05,
        "effort_rate": 200.0,
        "course_rate": 0.3,
    } | changes
    return ActuatorLimits(**{k: np.full(len(toy.winch), v) for k, v in values.items()})


def _geometry(toy: Toy, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Course s of stiff cables, H = ds/dx (n_a, 3n), and dH/dx as (n_a, 3, 3) blocks."""
    n = toy.n_masses
    mass = np.array(toy.mass_of_cable)
    d = x.reshape(n, 3)[mass] - toy.winch
    length = np.linalg.norm(d, axis=1)
    unit = d / length[:, None]
    rest = np.linalg.norm(toy.home[mass] - toy.winch, axis=1)
    H = np.zeros((len(mass), 3 * n))
    for i, m in enumerate(mass):
        H[i, 3 * m : 3 * m + 3] = -unit[i]
    curvature = -(np.eye(3) - unit[:, :, None] * unit[:, None, :]) / length[:, None, None]
    return rest - length, H, curvature


def _springs(toy: Toy, x: np.ndarray, tension: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force of springs and weight (3n,), and total tangent K (3n, 3n) with the cables' part."""
    n = toy.n_masses
    d = x.reshape(n, 3) - toy.home
    force = np.zeros((n, 3))
    K = np.zeros((3 * n, 3 * n))
    for m in range(n):
        square = d[m] @ d[m]
        force[m] = -(toy.stiffness + toy.stiffening * square) * d[m] - [0.0, 0.0, toy.weight]
        block = slice(3 * m, 3 * m + 3)
        K[block, block] += (toy.stiffness + toy.stiffening * square) * np.eye(3)
        K[block, block] += 2.0 * toy.stiffening * np.outer(d[m], d[m])
    for m in range(n - 1):
        stretch = d[m + 1] - d[m]
        force[m] += toy.link * stretch
        force[m + 1] -= toy.link * stretch
        index = np.arange(3) + 3 * m
        for a, b, sign in ((0, 0, 1), (3, 3, 1), (0, 3, -1), (3, 0, -1)):
            K[index + a, index + b] += sign * toy.link
    _, _, curvature = _geometry(toy, x)
    for i, m in enumerate(toy.mass_of_cable):
        block = slice(3 * m, 3 * m + 3)
        K[block, block] -= tension[i] * curvature[i]
    return force.ravel(), K


def equilibrium(
    toy: Toy,
    command: np.ndarray,
    *,
    length_driven: bool = True,
    loss: np.ndarray | float = 0.0,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions (3n,), efforts and courses (n_a,) under commanded courses or efforts.

    A cable that cannot push is slack: effort 0, course the winch's.
    """
    x = toy.home.ravel().copy() if start is None else start.copy()
    arrives = 1.0 - loss

    def cables(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not length_driven:
            return np.asarray(command, dtype=float), np.zeros(len(command))
        stretch = command - _geometry(toy, x)[0]
        return toy.cable * np.maximum(stretch, 0.0), toy.cable * (stretch > 0.0)

    def residual(x: np.ndarray) -> np.ndarray:
        tension, _ = cables(x)
        H = _geometry(toy, x)[1]
        return _springs(toy, x, tension * arrives)[0] + H.T @ (tension * arrives)

    for _ in range(200):
        r = residual(x)
        if np.abs(r).max() < 1e-13:
            break
        tension, stiffness = cables(x)
        H = _geometry(toy, x)[1]
        K = _springs(toy, x, tension * arrives)[1] + H.T @ ((stiffness * arrives)[:, None] * H)
        step = np.linalg.solve(K, r)
        scale = 1.0
        while scale > 1e-4 and np.linalg.norm(residual(x + scale * step)) > np.linalg.norm(r) * (
            1 - 0.1 * scale
        ):
            scale /= 2
        x = x + scale * step
    tension, _ = cables(x)
    course = np.asarray(command) if length_driven else _geometry(toy, x)[0] + tension / toy.cable
    return x, tension, np.array(course, dtype=float)


def condense(toy: Toy, command: np.ndarray, *, length_driven: bool = True) -> CondensedModel:
    """The exact condensed model of the frictionless toy at a command."""
    x, tension, _ = equilibrium(toy, command, length_driven=length_driven)
    s, H_a, _ = _geometry(toy, x)
    K = _springs(toy, x, tension)[1]
    H = np.vstack([np.eye(x.size), H_a])
    w = H @ np.linalg.solve(K, H.T)
    w = (w + w.T) / 2
    n_a = len(tension)
    w[-n_a:, -n_a:] += np.eye(n_a) / toy.cable
    x_e, course = x.reshape(-1, 3), s + tension / toy.cable
    load = np.zeros_like(x_e)
    x_free, course_free = free_state(w, x_e, course, tension, load)
    return CondensedModel(
        robot="toy",
        robot_hash="toy",
        source=Source.FEM,
        stamp=0.0,
        time_step=0.0,
        effectors=tuple(f"mass{i}" for i in range(toy.n_masses)),
        actuators=tuple(f"cable{i}" for i in range(n_a)),
        w=w,
        x_e=x_e,
        x_e_free=x_free,
        delta_a=course,
        delta_a_free=course_free,
        lambda_a=tension,
        lambda_e=load,
    )


class ToyPlant:
    """A plant by its equilibrium, with noise and with friction against the winch's motion."""

    def __init__(self, toy: Toy, *, noise: float = 0.0, seed: int = 0, length_driven: bool = True) -> None:
        self.toy, self.noise, self.length_driven = toy, noise, length_driven
        self.rng = np.random.default_rng(seed)
        self.command = np.zeros(len(toy.winch))
        self.direction = np.zeros(len(toy.winch))

    def step(self, command: np.ndarray, dt: float) -> Sample:
        moved = np.sign(command - self.command)
        self.direction = np.where(moved == 0.0, self.direction, moved)
        self.command = np.array(command, dtype=float)
        loss = self.toy.friction * self.direction
        x, tension, course = equilibrium(self.toy, self.command, length_driven=self.length_driven, loss=loss)
        effector = x.reshape(-1, 3)
        measured = effector + self.noise * self.rng.normal(size=effector.shape)
        return Sample(course, tension, effector, measured)
