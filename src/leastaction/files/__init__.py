"""Results on disk: runs that stream to HDF5 and survive being killed, checkpoints, and exports; see docs/files.md."""

from leastaction.files.checkpoint import load_checkpoint, save_checkpoint
from leastaction.files.describe import integrator_from_dict, integrator_to_dict
from leastaction.files.export import save, to_csv, to_pandas, to_xarray
from leastaction.files.resume import resume
from leastaction.files.stored import StoredTrajectory, open_run, stream

__all__ = [
    "StoredTrajectory",
    "integrator_from_dict",
    "integrator_to_dict",
    "load_checkpoint",
    "open_run",
    "resume",
    "save",
    "save_checkpoint",
    "stream",
    "to_csv",
    "to_pandas",
    "to_xarray",
]
