"""Where Pliant's shared files are: robots, plants, node parameters, meshes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pliant.errors import PliantError

_PACKAGE = Path(__file__).parent


def share_roots() -> Iterator[Path]:
    """Folders that may hold `config/` and `urdf/`, the first one first.

    The installed package (`pliant/share`, as in the wheel), then the checkout that this
    file lies in, then `share/pliant_bringup` of every prefix in AMENT_PREFIX_PATH.
    """
    yield _PACKAGE / "share"
    if len(_PACKAGE.parents) > 2 and (_PACKAGE.parents[1] / "pliant_bringup").is_dir():
        yield _PACKAGE.parents[2]
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share" / "pliant_bringup"


def share_path(*parts: str) -> Path:
    """Path of a shared file or folder, for example `share_path("config", "robots")`.

    Raises:
        PliantError: If no root of `share_roots` holds it.
    """
    roots = list(share_roots())
    for root in roots:
        path = root.joinpath(*parts)
        if path.exists():
            return path
    searched = ", ".join(str(root) for root in roots)
    raise PliantError(f"{'/'.join(parts)} is in none of Pliant's shared folders: {searched}")
