"""Write the tables of README.md and docs/ from docs/results/*.json and the meshes' references.

    ./dev python docs/make_tables.py             rewrite all from `<!-- table NAME -->` to `<!-- end -->`
    ./dev python docs/make_tables.py --check     exit code 1 if a table is not up to date
    ./dev python docs/make_tables.py --junit junit.xml
                                                 first take over what tests recorded (pytest --junitxml)

`docs/results/track_*.json` are written by `pliant track ROBOT --json FILE`; the others there are copies of
`results/NAME/NAME.json` of `./dev bench NAME` and `pliant reproduce NAME`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def deviation(robot: str, resolution: str) -> str:
    """Largest deviation of a mesh's rest compliance, of any entry of the diagonal of W."""
    mesh = read(ROOT / f"urdf/meshes/{robot}_reference.json")["meshes"][resolution]
    return f"{max(mesh['rest_deviation_percent'], key=abs):+.1f} %"


def mesh_table() -> str:
    rows = []
    for path in sorted((ROOT / "urdf/meshes").glob("*_reference.json")):
        reference = read(path)
        robot, order = reference["robot"], reference["order"]
        default = re.search(r"resolution: (\w+)", (ROOT / f"config/robots/{robot}.yaml").read_text())[1]
        for name, mesh in reference["meshes"].items():
            if not (path.parent / f"{robot}_{name}.vtu").is_file():
                continue
            worst = max(zip(mesh["rest_deviation_percent"], order), key=lambda pair: abs(pair[0]))
            tip = ", ".join(f"{value:+.1f}" for value in mesh["rest_deviation_percent"][:3])
            shown = f"**{name}**" if name == default else name
            row = (robot, shown, reference["element"], mesh["nodes"], tip, f"{worst[0]:+.1f} ({worst[1]})")
            rows.append((*row, reference["nodes"]))
    head = ("robot", "mesh", "element", "nodes", "tip x, y, z [%]", "worst entry [%]", "converged at nodes")
    return table(head, rows)


def track_table() -> str:
    rows = []
    for path in sorted(RESULTS.glob("track_*.json")):
        run = read(path)
        model, plant, robot = run["model"], run["plant"], run["robot"]
        other = (
            f"other: E x {plant['young_scale']:g}, {plant['nodes']} nodes, "
            f"friction {plant['cable_friction']:g}, noise {1e3 * plant['effector_noise_m']:g} mm"
        )
        rows.append((
            robot,
            f"{model['element']}, {model['nodes']} nodes, {deviation(robot, model['resolution'])}",
            other if plant["young_scale"] != 1.0 else "the model itself",
            f"{run['goals']}",
            f"{run['mean_error_mm']:.2g}",
            f"{run['max_error_mm']:.2g}",
            f"{run['settle_steps_mean']:.1f} ({run['settle_steps']})",
        ))  # fmt: skip
    head = ("robot", "model: element, nodes, deviation", "plant", "goals", "mean error [mm]", "largest [mm]",
            "steps a goal (most)")  # fmt: skip
    return table(head, rows)


def take_over(junit: Path) -> None:
    """Largest magnitude of each figure that a test recorded, over its parameters."""
    figures: dict[str, float] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        for found in case.iter("property"):
            test = f"{case.get('classname').split('.')[-1]}.{case.get('name').split('[')[0]}"
            name = f"{test}.{found.get('name')}"
            figures[name] = max(figures.get(name, 0.0), abs(float(found.get("value"))))
    path = RESULTS / "tests.json"
    known = read(path) if path.is_file() else {}
    path.write_text(json.dumps(known | figures, indent=2, sort_keys=True) + "\n")


def law_table() -> str:
    found = read(RESULTS / "tests.json")
    rows = [
        (what, f"{found[name]:.2g}", bar, f"`tests/{file}`")
        for what, name, bar, file in (
            ("W against differences of whole equilibria, rest and 2 states a robot, over sqrt(W_ii W_jj)",
             "test_fem_compliance.test_compliance_is_the_derivative_of_the_equilibrium.largest_error", "1e-5",
             "unit/fem/test_fem_compliance.py"),
            ("bending against the elastica, PL²/EI = 1 to 10",
             "test_fem_beams.test_default_element_bends_as_the_elastica.relative_error", "2e-2",
             "unit/fem/test_fem_beams.py"),
            ("displacement against felupe, same energy",
             "test_against_felupe.test_displacement_agrees.relative_difference", "1e-8",
             "oracles/test_against_felupe.py"),
            ("displacement against CalculiX",
             "test_against_calculix.test_displacement_agrees.relative_difference", "1e-4",
             "oracles/test_against_calculix.py"),
            ("tip of SOFA's Diamond [mm]",
             "test_against_sofa.test_tip_and_tension_agree_when_the_north_cable_is_pulled.tip_mm", "1e-6",
             "oracles/test_against_sofa.py"),
            ("cable tension of SOFA's Diamond",
             "test_against_sofa.test_tip_and_tension_agree_when_the_north_cable_is_pulled.tension", "1e-4",
             "oracles/test_against_sofa.py"),
            ("Newton steps along random actuations, mean of the worst robot",
             "test_fem_robustness.test_random_actuations_converge_in_few_steps.mean_newton_steps", "4.5",
             "unit/fem/test_fem_robustness.py"),
        )
        if name in found
    ]  # fmt: skip
    rows += [
        (f"QP, random problems: {bar['name']}", f"{bar['value']:.2g} {bar['unit']}", f"{bar['limit']:g}",
         "`./dev bench qp`")
        for bar in read(RESULTS / "qp.json")["bars"]
        if "deviation" in bar["name"]
    ]  # fmt: skip
    rows += [
        (f"Newton step in one thread, {bar['name']}", f"{bar['value']:.2f} {bar['unit']}".strip(),
         f"{bar['sense']} {bar['limit']:g}", "`./dev bench fem`")
        for bar in read(RESULTS / "fem.json")["bars"]
        if "peer" in bar["name"]
    ]  # fmt: skip
    return table(("law", "measured", "bar", "checked by"), rows)


TABLES = {"laws": law_table, "loop": track_table, "mesh": mesh_table}


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--junit", type=Path)
    options = parser.parse_args()
    if options.junit:
        take_over(options.junit)
    stale = 0
    for page in PAGES:
        text = page.read_text()
        new = BLOCK.sub(lambda block: block[1] + TABLES[block[2]]() + block[3], text)
        if new != text:
            stale += 1
            print(f"{page.relative_to(ROOT)}: {'not up to date' if options.check else 'rewritten'}")
            if not options.check:
                page.write_text(new)
    return int(options.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
