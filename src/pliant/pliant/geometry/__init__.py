"""Tetrahedral meshes, made and read: what every other part stands on."""
