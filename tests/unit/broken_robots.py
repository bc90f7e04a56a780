"""Broken robot files: mutations of the block's file, of its text and of its mesh.

Each case writes one broken robot into a folder and says which key its error must name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import meshio
import numpy as np
from block import block_mesh, block_robot, write_robot

Content = dict[str, Any]
Key = tuple[str | int, ...]

WRONG_NUMBERS = [None, "soft", "", [], {}, True, float("nan"), float("inf"), float("-inf"), -1e30]
WRONG_TEXTS = [None, 3, 1.5, [], {}, True, "", "  ", "x" * 600]
WRONG_LISTS = [None, 7, "soft", {}, [], [[]], [None]]
NUMBERS: list[Key] = [
    ("material", "young_modulus_pa"),
    ("material", "poisson_ratio"),
    ("material", "density_kg_m3"),
    ("actuators", 0, "course_rate_m_s"),
    ("actuators", 1, "effort_rate_n_s"),
    ("actuators", 1, "pretension_n"),
]
TEXTS: list[Key] = [
    ("kind",),
    ("name",),
    ("mesh", "unit"),
    ("mesh", "resolution"),
    ("mesh", "files", "coarse"),
    ("element",),
    ("material", "model"),
    ("actuators", 0, "name"),
    ("actuators", 1, "type"),
    ("actuators", 0, "command"),
    ("effectors", 0, "name"),
]
VECTORS: list[Key] = [
    ("mesh", "rotation_deg"),
    ("mesh", "translation_m"),
    ("gravity_m_s2",),
    ("fixed", 0, "box_m"),
    ("actuators", 0, "pull_point_m"),
    ("actuators", 1, "via_points_m", 1),
    ("actuators", 0, "course_m"),
    ("actuators", 1, "effort_n"),
    ("effectors", 0, "point_m"),
]
WRONG_VECTORS = [
    None,
    1.0,
    "0 0 0",
    {},
    [],
    [0.0],
    [0, 0, 0, 0],
    ["a", "b", "c"],
    [float("nan")] * 3,
    [float("inf"), 0, 0],
]
LISTS: list[Key] = [("fixed",), ("actuators",), ("effectors",), ("actuators", 0, "via_points_m")]
MAPPINGS: list[Key] = [
    ("mesh",),
    ("mesh", "files"),
    ("material",),
    ("fixed", 0),
    ("actuators", 1),
    ("effectors", 0),
]
REQUIRED: list[Key] = [
    *[
        ("kind",),
        ("name",),
        ("mesh",),
        ("material",),
        ("fixed",),
        ("actuators",),
        ("effectors",),
        ("mesh", "files"),
    ],
    *[("material", key) for key in ("young_modulus_pa", "poisson_ratio", "density_kg_m3")],
    *[
        ("actuators", 1, key)
        for key in ("name", "type", "pull_point_m", "via_points_m", "course_m", "effort_n")
    ],
    *[("actuators", 0, key) for key in ("course_rate_m_s", "effort_rate_n_s")],
    *[("fixed", 0, "box_m"), ("effectors", 0, "name"), ("effectors", 0, "point_m")],
]
MISSPELT: list[tuple[Key, str, str]] = [
    ((), "gravity", "gravity_m_s2"),
    ((), "effector", "effectors"),
    ((), "materials", "material"),
    (("mesh",), "units", "unit"),
    (("mesh",), "rotation", "rotation_deg"),
    (("material",), "young_modulus", "young_modulus_pa"),
    (("material",), "density", "density_kg_m3"),
    (("fixed", 0), "box", "box_m"),
    (("actuators", 0), "course", "course_m"),
    (("actuators", 1), "effort", "effort_n"),
    (("actuators", 1), "via_points", "via_points_m"),
    (("effectors", 0), "point", "point_m"),
]
FAR_BOX = [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
SEMANTIC: list[tuple[str, Key, Any, str]] = [
    ("muscle", ("kind",), "muscle", "kind"),
    ("name_with_space", ("name",), "my block", "name"),
    ("name_with_digit", ("name",), "2block", "name"),
    ("name_with_slash", ("name",), "../block", "name"),
    ("unknown_unit", ("mesh", "unit"), "feet", "mesh.unit"),
    ("mesh_in_mm", ("mesh", "unit"), "mm", "mesh.unit"),
    ("default_resolution_absent", ("mesh", "resolution"), "finest", "mesh.resolution"),
    ("mesh_absent", ("mesh", "files", "coarse"), "nowhere.vtu", "mesh.files.coarse"),
    ("mesh_is_folder", ("mesh", "files", "coarse"), ".", "mesh.files.coarse"),
    ("mesh_is_yaml", ("mesh", "files", "coarse"), "block.yaml", "mesh.files.coarse"),
    ("files_and_file", ("mesh", "file"), "block.vtu", "mesh.files"),
    ("translated_in_mm", ("mesh", "translation_m"), [0, 0, 35.0], "fixed[0].box_m"),
    ("rotated_away", ("mesh", "rotation_deg"), [0, 180, 0], "actuators[0].via_points_m[0]"),
    ("unknown_element", ("element",), "tet20", "element"),
    ("unknown_material", ("material", "model"), "rubber", "material.model"),
    ("soft_as_nothing", ("material", "young_modulus_pa"), 0.18, "material.young_modulus_pa"),
    ("stiff_as_nothing", ("material", "young_modulus_pa"), 1e15, "material.young_modulus_pa"),
    ("negative_stiffness", ("material", "young_modulus_pa"), -2e5, "material.young_modulus_pa"),
    ("incompressible", ("material", "poisson_ratio"), 0.5, "material.poisson_ratio"),
    ("poisson_above_half", ("material", "poisson_ratio"), 0.6, "material.poisson_ratio"),
    ("density_in_g_cm3", ("material", "density_kg_m3"), 1.07, "material.density_kg_m3"),
    ("density_in_g_m3", ("material", "density_kg_m3"), 1.07e6, "material.density_kg_m3"),
    ("gravity_in_mm", ("gravity_m_s2",), [0, 0, -9810], "gravity_m_s2"),
    ("region_absent", ("regions",), {7: block_robot()["material"]}, "regions.7"),
    ("region_named", ("regions",), {"skin": block_robot()["material"]}, "regions.skin"),
    ("region_empty", ("regions",), {0: {}}, "regions.0"),
    ("nothing_fixed", ("fixed", 0, "box_m"), FAR_BOX, "fixed[0].box_m"),
    ("second_box_empty", ("fixed", 1), {"box_m": FAR_BOX}, "fixed[1].box_m"),
    ("fixed_in_mm", ("fixed", 0, "box_m"), [[-20, -20, 1], [20, 20, 9]], "fixed[0].box_m"),
    ("box_inverted", ("fixed", 0, "box_m"), [[0.02, 0.02, 0.001], [-0.02, -0.02, -0.001]], "fixed[0].box_m"),
    ("all_fixed", ("fixed", 0, "box_m"), [[-1, -1, -1], [1, 1, 1]], "fixed"),
    ("attached_nowhere", ("attached",), [{"box_m": FAR_BOX, "stiffness_n_m": 1e4}], "attached[0].box_m"),
    ("attached_no_stiffness", ("attached",), [{"box_m": FAR_BOX}], "attached[0].stiffness_n_m"),
    (
        "attached_by_nothing",
        ("attached",),
        [{"box_m": FAR_BOX, "stiffness_n_m": 0}],
        "attached[0].stiffness_n_m",
    ),
    ("rigid_nowhere", ("rigid",), [{"box_m": FAR_BOX}], "rigid[0].box_m"),
    ("rigid_and_fixed", ("rigid",), [{"box_m": [[-1, -1, -1], [1, 1, 0.03]]}], "rigid[0].box_m"),
    ("rigid_twice", ("rigid",), [{"box_m": [[-1, -1, 0.05], [1, 1, 1]]}] * 2, "rigid[1].box_m"),
    ("two_cables_one_name", ("actuators", 1, "name"), "east", "actuators[1].name"),
    (
        "two_effectors_one_name",
        ("effectors", 1),
        {"name": "tip", "point_m": [0, 0, 0.04]},
        "effectors[1].name",
    ),
    ("unknown_actuator", ("actuators", 0, "type"), "muscle", "actuators[0].type"),
    ("unknown_command", ("actuators", 0, "command"), "torque", "actuators[0].command"),
    ("cable_outside", ("actuators", 0, "via_points_m", 1), [0.05, 0, 0.08], "actuators[0].via_points_m[1]"),
    ("cable_in_mm", ("actuators", 0, "via_points_m", 1), [10, 0, 80], "actuators[0].via_points_m[1]"),
    (
        "cable_without_length",
        ("actuators", 0, "via_points_m", 1),
        [0.01, 0, 0.04],
        "actuators[0].via_points_m[1]",
    ),
    (
        "cable_starts_at_end",
        ("actuators", 0, "via_points_m", 0),
        [0.01, 0, 0],
        "actuators[0].via_points_m[0]",
    ),
    ("pulled_in_mm", ("actuators", 1, "pull_point_m"), [-10, 0, 0], "actuators[1].pull_point_m"),
    ("pulled_from_the_moon", ("actuators", 1, "pull_point_m"), [3.8e8, 0, 0], "actuators[1].pull_point_m[0]"),
    ("course_inverted", ("actuators", 0, "course_m"), [0.01, 0.0], "actuators[0].course_m"),
    ("course_empty", ("actuators", 0, "course_m"), [0.0, 0.0], "actuators[0].course_m"),
    ("course_without_rest", ("actuators", 0, "course_m"), [0.01, 0.02], "actuators[0].course_m"),
    ("effort_inverted", ("actuators", 0, "effort_n"), [20.0, 0.0], "actuators[0].effort_n"),
    ("cable_that_pushes", ("actuators", 0, "effort_n"), [-5.0, 20.0], "actuators[0].effort_n[0]"),
    ("rate_zero", ("actuators", 0, "course_rate_m_s"), 0.0, "actuators[0].course_rate_m_s"),
    ("rate_negative", ("actuators", 0, "effort_rate_n_s"), -50.0, "actuators[0].effort_rate_n_s"),
    ("pretension_negative", ("actuators", 0, "pretension_n"), -1.0, "actuators[0].pretension_n"),
    ("limit_below_pretension", ("actuators", 0, "pretension_n"), 25.0, "actuators[0].effort_n"),
    ("effector_outside", ("effectors", 0, "point_m"), [0, 0, 0.12], "effectors[0].point_m"),
    ("effector_in_mm", ("effectors", 0, "point_m"), [0, 0, 80], "effectors[0].point_m"),
]
TEXT_LEVEL: list[tuple[str, str | bytes]] = [
    ("empty", ""),
    ("blank", "\n\n  \n"),
    ("comment_only", "# a robot\n"),
    ("a_list", "- kind: soft\n"),
    ("a_word", "soft\n"),
    ("a_number", "3.14\n"),
    ("tab", "kind: soft\nmesh:\n\tunit: m\n"),
    ("open_bracket", "kind: [soft\nname: x\n"),
    ("open_quote", "kind: 'soft\nname: x\n"),
    ("open_brace", "kind: {soft\n"),
    ("bad_indent", "kind: soft\n  name: x\n"),
    ("two_documents", "kind: soft\n---\nkind: soft\n"),
    ("key_twice", "kind: soft\nname: a\nname: b\n"),
    ("unknown_alias", "kind: *soft\n"),
    ("itself", "&a [*a]\n"),
    ("python_object", "kind: !!python/object/apply:os.getcwd []\n"),
    ("own_tag", "kind: !soft x\n"),
    ("bad_int", "kind: !!int soft\n"),
    ("list_as_key", "? [kind]\n: soft\n"),
    ("deep", "kind: " + "[" * 5000),
    ("huge_integer", "kind: " + "9" * 5000),
    ("huge", "# " + "x" * 1_100_000),
    ("nul", "kind: \x00\n"),
    ("latin1", "kind: soft\nname: caf\xe9\n".encode("latin-1")),
    ("utf16", "kind: soft\n".encode("utf-16")),
    ("binary", bytes(range(256))),
    ("vtu_instead", '<?xml version="1.0"?><VTKFile></VTKFile>'),
    ("json_cut", '{"kind": "soft", '),
    (
        "bomb",
        "a: &a [x, x]\n"
        + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefghij", "bcdefghijk", strict=True)),
    ),
]


@dataclass(frozen=True)
class Broken:
    """One broken robot: its name, what writes it (and returns its file), the key at fault."""

    name: str
    write: Callable[[Path], Path]
    key: str


def broken_robots() -> list[Broken]:
    """All cases, of distinct names."""
    return [*_missing(), *_wrong_types(), *_misspelt(), *_semantic(), *_texts(), *_meshes()]


def _missing() -> Iterator[Broken]:
    for key in REQUIRED:

        def drop(content: Content, key: Key = key) -> None:
            del _parent(content, key)[key[-1]]

        yield _mutated(f"missing {dotted(key)}", drop, dotted(key))


def _wrong_types() -> Iterator[Broken]:
    table = [(NUMBERS, WRONG_NUMBERS), (TEXTS, WRONG_TEXTS), (VECTORS, WRONG_VECTORS)]
    table += [(LISTS, WRONG_LISTS), (MAPPINGS, [None, 3, "soft", [], [1]])]
    for keys, values in table:
        for key in keys:
            for number, value in enumerate(values):
                yield _replaced(f"type {dotted(key)} {number}", key, value, dotted(key))


def _misspelt() -> Iterator[Broken]:
    for parent, wrong, right in MISSPELT:

        def rename(content: Content, parent: Key = parent, wrong: str = wrong, right: str = right) -> None:
            mapping = _parent(content, (*parent, right))
            mapping[wrong] = mapping.pop(right)

        yield _mutated(f"misspelt {dotted((*parent, wrong))}", rename, dotted((*parent, wrong)))


def _semantic() -> Iterator[Broken]:
    for name, key, value, expected in SEMANTIC:
        yield _replaced(name, key, value, expected)


def _texts() -> Iterator[Broken]:
    for name, text in TEXT_LEVEL:

        def write(folder: Path, text: str | bytes = text) -> Path:
            file = folder / "block.yaml"
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
            return file

        yield Broken(f"text {name}", write, "kind" if name == "bomb" else "")
    yield Broken("absent", lambda folder: folder / "block.yaml", "(file)")
    yield Broken("folder", lambda folder: folder, "(file)")


def _meshes() -> Iterator[Broken]:
    for name, change in MESHES.items():

        def write(folder: Path, change: Callable[[meshio.Mesh], meshio.Mesh] = change) -> Path:
            file = write_robot(folder, block_robot())
            change(block_mesh()).write(folder / "block.vtu")
            return file

        yield Broken(f"mesh {name}", write, MESH_KEYS.get(name, "mesh.files.coarse"))
    for name, change_bytes in MESH_BYTES.items():

        def write_bytes(folder: Path, change: Callable[[bytes], bytes] = change_bytes) -> Path:
            file = write_robot(folder, block_robot())
            (folder / "block.vtu").write_bytes(change((folder / "block.vtu").read_bytes()))
            return file

        yield Broken(f"mesh bytes {name}", write_bytes, "mesh.files.coarse")


def _points(change: Callable[[np.ndarray], object]) -> Callable[[meshio.Mesh], meshio.Mesh]:
    def changed(mesh: meshio.Mesh) -> meshio.Mesh:
        points = mesh.points.copy()
        replaced = change(points)
        return meshio.Mesh(points if replaced is None else replaced, mesh.cells)

    return changed


def _tets(change: Callable[[np.ndarray], object]) -> Callable[[meshio.Mesh], meshio.Mesh]:
    def changed(mesh: meshio.Mesh) -> meshio.Mesh:
        tets = mesh.cells_dict["tetra"].copy()
        replaced = change(tets)
        return meshio.Mesh(mesh.points, [("tetra", tets if replaced is None else replaced)])

    return changed


def _put(index: Any, value: Any) -> Callable[[np.ndarray], object]:
    def put(array: np.ndarray) -> None:
        array[index] = value

    return put


def _with_second_block(mesh: meshio.Mesh) -> meshio.Mesh:
    tets = mesh.cells_dict["tetra"]
    points = np.vstack([mesh.points, mesh.points + np.array([0.0, 0.0, 0.2])])
    return meshio.Mesh(points, [("tetra", np.vstack([tets, tets + len(mesh.points)]))])


MESHES: dict[str, Callable[[meshio.Mesh], meshio.Mesh]] = {
    "nan_node": _points(_put((3, 1), np.nan)),
    "infinite_node": _points(_put((0, 0), np.inf)),
    "all_nan": _points(lambda points: points * np.nan),
    "in_mm": _points(lambda points: points * 1000.0),
    "in_um": _points(lambda points: points * 1e6),
    "in_km": _points(lambda points: points / 1000.0),
    "flat": _points(lambda points: points * [1.0, 1.0, 0.0]),
    "a_point": _points(lambda points: points * 0.0),
    "node_moved_through": _points(_put(2, [0.0, 0.0, -0.3])),
    "mirrored": _points(lambda points: points * [-1.0, 1.0, 1.0]),
    "one_inverted": _tets(lambda tets: np.vstack([tets[:1, [1, 0, 2, 3]], tets[1:]])),
    "all_inverted": _tets(lambda tets: tets[:, [0, 2, 1, 3]]),
    "degenerate": _tets(lambda tets: np.vstack([tets, [[0, 1, 2, 3]]])),
    "corner_twice": _tets(_put((0, 1), 0)),
    "index_too_large": _tets(_put((0, 0), 10_000)),
    "no_tets": _tets(lambda tets: tets[:0]),
    "triangles": lambda mesh: meshio.Mesh(mesh.points, [("triangle", mesh.cells_dict["tetra"][:, :3])]),
    "lines": lambda mesh: meshio.Mesh(mesh.points, [("line", mesh.cells_dict["tetra"][:, :2])]),
    "hexahedra": lambda mesh: meshio.Mesh(mesh.points, [("hexahedron", np.arange(8)[None])]),
    "loose_part": _with_second_block,
}
MESH_KEYS = {"in_mm": "mesh.unit", "in_um": "mesh.unit", "in_km": "mesh.unit", "loose_part": "fixed"}
MESH_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "last_byte_gone": lambda content: content[:-12],
    "first_byte_gone": lambda content: content[1:],
    "zeros": lambda content: bytes(len(content)),
    "text": lambda content: b"not a mesh\n",
    "other_root": lambda content: content.replace(b"VTKFile", b"Mesh"),
    "other_kind": lambda content: content.replace(b"UnstructuredGrid", b"PolyData"),
    "no_connectivity": lambda content: content.replace(b'"connectivity"', b'"something"'),
    "garbled": lambda content: content.replace(b"A", b"!"),
    "vtk_header": lambda content: b"# vtk DataFile Version 3.0\n" + content,
}


def _replaced(name: str, key: Key, value: Any, expected: str) -> Broken:
    def replace(content: Content) -> None:
        parent = _parent(content, key)
        if isinstance(parent, list) and key[-1] == len(parent):
            parent.append(value)
        else:
            parent[key[-1]] = value

    return _mutated(name, replace, expected)


def _mutated(name: str, mutate: Callable[[Content], None], key: str) -> Broken:
    def write(folder: Path) -> Path:
        content = copy.deepcopy(block_robot())
        mutate(content)
        return write_robot(folder, content)

    return Broken(name, write, key)


def _parent(content: Any, key: Key) -> Any:
    for part in key[:-1]:
        content = content[part]
    return content


def dotted(key: Key) -> str:
    """A key as errors write it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return text.removeprefix(".")
