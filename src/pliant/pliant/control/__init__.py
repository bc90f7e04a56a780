"""Control of soft robots: the inverse problem as a QP, goal paths, following them."""

from pliant.control.inverse import InverseParameters, InverseResult, Status, inverse_step

__all__ = ["InverseParameters", "InverseResult", "Status", "inverse_step"]
