"""Makes the meshes of the finite-element tests importable under every import mode of pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fem"))
