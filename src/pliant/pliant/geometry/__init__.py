"""Rigid transforms and tetrahedral meshes: what every other part stands on."""
