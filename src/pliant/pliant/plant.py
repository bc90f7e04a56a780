"""The plant: a robot as it is, with what its model leaves out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.config_file import Entry, read_yaml
from pliant.errors import EquilibriumError, PliantError
from pliant.fem import Cable, State, System, solve_equilibrium
from pliant.parameters import from_mapping, parameter, validate
from pliant.resources import share_path
from pliant.robot import Robot, load_robot, start_state

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EFFORT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PlantParameters:
    """How a plant differs from the model that controls it.

    Attributes:
        young_scale: Its Young's modulus over the model's.
        resolution: Its mesh resolution where the robot has it, else the model's.
        cable_friction: Coulomb coefficient of its cables at their via points.
        cable_presliding_m: Travel over which that friction builds up, and turns when the cable
            turns: an elastic-plastic bristle between rest and Coulomb's law [m].
        effector_noise_m: Standard deviation of the measured effector, each axis [m].
        delay_s: Age of the measured effector [s].
        seed: Seed of the noise.
    """

    young_scale: float = parameter(
        1.0, unit="", minimum=0.1, maximum=10.0, description="Young's modulus of the plant over the model's."
    )
    resolution: str = parameter(
        "", unit="", description="Mesh resolution where the robot has it; the model's if empty."
    )
    cable_friction: float = parameter(
        0.0,
        unit="",
        minimum=0.0,
        maximum=1.0,
        description="Coulomb friction of the cables at their via points.",
    )
    cable_presliding_m: float = parameter(
        2e-4, unit="m", minimum=1e-6, maximum=0.1, description="Travel over which cable friction builds up."
    )
    effector_noise_m: float = parameter(
        0.0,
        unit="m",
        minimum=0.0,
        maximum=0.01,
        description="Standard deviation of the measured effector, each axis.",
    )
    delay_s: float = parameter(
        0.0, unit="s", minimum=0.0, maximum=1.0, description="Age of the measured effector."
    )
    seed: int = parameter(0, unit="", minimum=0, maximum=2**31 - 1, description="Seed of the noise.")

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class PlantSample:
    """What a plant shows after a step.

    Attributes:
        time: Time since the start [s].
        position: Encoder of each actuator: the length its winch has pulled in [m], shape
            (n_a,). The geometric course L0 - L of a taut cable; of a slack one, less.
        effort: Tension at the winch [N], shape (n_a,).
        slack: Whether a cable is slack, shape (n_a,).
        saturated: Whether a limit kept an actuator from its command, shape (n_a,).
        effector: True effector positions [m], shape (n_e, 3).
        measured: Effector positions with delay and noise [m], shape (n_e, 3).
        state: The equilibrium.
        fault: Why the last equilibrium is held, None if all is well.
    """

    time: float
    position: Array
    effort: Array
    slack: Flags
    saturated: Flags
    effector: Array
    measured: Array
    state: State
    fault: str | None


class Plant:
    """A robot that is stepped by commands, at rest to begin with.

    Args:
        robot: The robot that the controller knows.
        parameters: How this one differs.

    Raises:
        PliantError: If it cannot be built or has no equilibrium at rest.
    """

    def __init__(self, robot: Robot, parameters: PlantParameters) -> None:
        known = parameters.resolution in robot.spec.mesh.files
        self.robot = load_robot(
            robot.file,
            resolution=parameters.resolution if known else robot.resolution,
            element=robot.spec.element,
            young_scale=parameters.young_scale,
        )
        self.parameters = parameters
        limits, driven = self.robot.limits, self.robot.length_driven
        self._low = np.where(driven, limits.course_min, limits.effort_min)
        self._high = np.where(driven, limits.course_max, limits.effort_max)
        self._rate = np.where(driven, limits.course_rate, limits.effort_rate)
        self._random = np.random.default_rng(parameters.seed)
        self._start = start_state(self.robot)
        self._time = 0.0
        self.release()

    def release(self) -> PlantSample:
        """Back to rest at once: no load, each actuator at its pretension."""
        driven, start = self.robot.length_driven, self._start
        self._applied = np.clip(np.where(driven, start.course, self.robot.pretension), self._low, self._high)
        self._load = np.zeros_like(start.effector)
        self._refused: Array | None = None
        self._grip = np.zeros_like(self._applied)
        self._state, stalled = self._equilibrium(start, self._applied, self._load, self._grip)
        self._slide = np.zeros_like(self._applied)
        self._seen: deque[tuple[float, Array]] = deque([(self._time, self._state.effector)])
        self.sample = self._sample(stalled, None)
        return self.sample

    def step(self, command: Array, dt: float, effector_force: Array | None = None) -> PlantSample:
        """Follow a command for a time, within limits and rates, to the next equilibrium.

        A failed equilibrium holds the last one and says so in `fault`. A load that was tried and
        has none is not tried again: the last one stays until another is given.

        Args:
            command: Course [m] or tension [N], as the robot file says, shape (n_a,).
            dt: Time of the step [s].
            effector_force: Force on the effectors [N], shape (n_e, 3); as before if None.

        Raises:
            PliantError: If an argument has the wrong shape or is not finite.
        """
        command = np.asarray(command, dtype=np.float64)
        load = self._load if effector_force is None else np.asarray(effector_force, dtype=np.float64)
        self._refuse_bad_input(command, dt, load)
        target = np.clip(command, self._low, self._high)
        applied = self._applied + np.clip(target - self._applied, -self._rate * dt, self._rate * dt)
        fault, blocked = None, target != command
        if self._refused is not None and np.array_equal(load, self._refused):
            load, fault = self._load, "the load on the effectors has no equilibrium; the last one stays"
        self._time += dt
        grip = self._sliding(applied)
        try:
            before, (self._state, stalled) = self._state, self._equilibrium(self._state, applied, load, grip)
            self._load, self._grip = load, grip
            self._slide = self._state.course - before.course
            stuck = np.where(self.robot.length_driven, self._state.course, self._state.effort)
            self._applied = np.where(stalled, np.clip(stuck, self._low, self._high), applied)
            blocked |= stalled
        except EquilibriumError as error:
            fault = str(error)
            self._refused = load if not np.array_equal(load, self._load) else self._refused
        self._seen.append((self._time, self._state.effector))
        self.sample = self._sample(blocked, fault)
        return self.sample

    def _sliding(self, applied: Array) -> Array:
        """How far each cable's friction is built up: -1 running out, 1 pulled in, shape (n_a,)."""
        slide = np.where(self.robot.length_driven, applied - self._applied, self._slide)
        return np.clip(self._grip + slide / self.parameters.cable_presliding_m, -1.0, 1.0)

    def _equilibrium(self, state: State, applied: Array, load: Array, grip: Array) -> tuple[State, Flags]:
        """The next state; an actuator that would leave its other limit stalls there instead."""
        limits, driven = self.robot.limits, self.robot.length_driven
        system = _dragged(self.robot.system, self.parameters.cable_friction * grip)
        stalled = np.zeros_like(driven)
        while True:
            edge = np.where(driven, limits.effort_max, limits.course_max)
            mode = driven ^ stalled
            command = np.where(stalled, edge, applied)
            reached = solve_equilibrium(
                system, state, command=command, length_driven=mode, effector_force=load
            )
            reading = np.where(driven, reached.effort, reached.course)
            beyond = ~stalled & (reading > edge * (1 + EFFORT_TOLERANCE))
            if not beyond.any():
                return reached, stalled
            stalled = stalled | beyond

    def _sample(self, saturated: Flags, fault: str | None) -> PlantSample:
        state = self._state
        taut = np.where(self.robot.length_driven, self._applied, state.course)
        return PlantSample(
            time=self._time,
            position=taut,
            effort=state.effort,
            slack=state.effort <= 0.0,
            saturated=saturated,
            effector=state.effector,
            measured=self._measured(),
            state=state,
            fault=fault,
        )

    def _measured(self) -> Array:
        """The newest effector that is at least as old as the delay, with noise."""
        while len(self._seen) > 1 and self._seen[1][0] <= self._time - self.parameters.delay_s + 1e-12:
            self._seen.popleft()
        effector = self._seen[0][1]
        return effector + self.parameters.effector_noise_m * self._random.standard_normal(effector.shape)

    def _refuse_bad_input(self, command: Array, dt: float, load: Array) -> None:
        shape = self._applied.shape
        if command.shape != shape or not np.isfinite(command).all():
            raise PliantError(f"plant {self.robot.name!r}: command {command} must be {shape} finite numbers")
        if not (np.isfinite(dt) and dt > 0):
            raise PliantError(f"plant {self.robot.name!r}: dt is {dt!r} s, must be positive")
        if load.shape != self._load.shape or not np.isfinite(load).all():
            raise PliantError(
                f"plant {self.robot.name!r}: effector_force must be {self._load.shape} finite numbers"
            )


def _dragged(system: System, drag: Array) -> System:
    """The system with friction on its cables: coefficient times direction of sliding, shape (n_a,)."""
    if not drag.any():
        return system
    actuators = zip(system.actuators, drag.tolist(), strict=True)
    return replace(
        system, actuators=tuple(replace(a, drag=d) if isinstance(a, Cable) else a for a, d in actuators)
    )


def read_plant(name_or_path: str | Path) -> PlantParameters:
    """Parameters of a plant file, or of a shipped one by name ("same", "other").

    Raises:
        PliantError: If the file says something that no plant has.
    """
    path = Path(name_or_path)
    if not path.suffix and len(path.parts) == 1:
        folder = share_path("config", "plants")
        names = tuple(sorted(file.stem for file in folder.glob("*.yaml")))
        path = folder / f"{Entry(folder, 'plant', path.name).text(choices=names)}.yaml"
    return from_mapping(PlantParameters, read_yaml(path).contents, source=str(path))
