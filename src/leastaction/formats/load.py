"""A model from a file, whatever its kind."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from numpy.typing import ArrayLike

from leastaction.arguments import shown
from leastaction.errors import ModelError
from leastaction.formats import markup, mjcf, urdf
from leastaction.formats.findings import Findings
from leastaction.formats.folder import Folder
from leastaction.model import Model
from leastaction.model.library import BUILTIN, by_name
from leastaction.model.names import did_you_mean

Root = Literal["auto", "fixed", "free"]
SUFFIXES = (".urdf", ".xml", ".mjcf", ".xacro", ".sdf")


def load(
    path: str | Path,
    *,
    root: Root = "auto",
    gravity: ArrayLike | None = None,
    ignore: str | Iterable[str] = (),
    actuators: bool = True,
    strict: bool = False,
    allow_external: bool = False,
) -> Model:
    """Load a robot from a URDF or MJCF file.

    Elements that the dynamics do not honour are named in `model.ignored`, and counted in one ModelWarning; elements
    without which the model would be another one are errors. A mesh of a URDF that cannot be read is not drawn, and is
    counted, too.

    Parameters
    ----------
    path : of the file; its content says which kind it is
    root : whether the root is "fixed" to the ground or "free" to float; "auto" does what an MJCF file says, and fixes
        a URDF, which does not say
    gravity : (3,) acceleration of free fall, world frame, m/s^2; None for that of the file (URDF: 9.81 down)
    ignore : words for what may be left out: "tendon", "fluid", "gravcomp", "nonlinear", "transmission", "flex",
        "plugin" accept a model without it; "mimic" and "equality" leave out those constraints, "limits" and "friction"
        joint limits and dry friction, which act otherwise; "mesh" loads no meshes of a URDF, and that word, "effort",
        "collision", "actuators", "mocap", "inert", "softness", "extensions" silence the warning, which is not repeated
        when the model is simulated
    actuators : whether those of an MJCF file act, as far as there are such here; a URDF has none
    strict : whether to raise an error instead of a warning
    allow_external : whether files outside the folder of the model may be opened. Its folder is that of its ROS package
        if it lies in one; otherwise mesh files in `meshes` and `assets` of the folder above may be opened as well

    Raises
    ------
    ModelError
        Listing every fault of the file, each with its line.
    """
    check_root(root)
    file = Path(path)
    findings = Findings(file.name, ignore)
    try:
        if file.exists() and not file.is_file():   # reading a device may never end
            raise OSError("not a file")
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {file}: {error.strerror or error}") from None
    top = markup.parse(data, file.name)
    folder = Folder(file, allow_external)
    if top.tag == "robot":
        model = urdf.read(top, folder, findings, root == "free", gravity)
    elif top.tag == "mujocoinclude":
        raise ModelError(f"{file.name} is a piece that other files include; load one of those")
    elif top.tag == "mujoco":
        model = mjcf.read(top, folder, findings, root, gravity, actuators)
    else:
        raise ModelError(f"{file.name}: <{top.tag}> is neither a URDF (<robot>) nor an MJCF file (<mujoco>)")
    return findings.settle(model, strict)


def find_model(text: str, **options: object) -> Model:
    """Make the model that a user names: a built-in one such as "chain:10", or a file.

    Parameters
    ----------
    text : name or path; a built-in name wins, and ./name is always a file
    options : for `load`, if it is a file
    """
    kind = text.partition(":")[0]
    if kind in BUILTIN:
        return by_name(text)
    try:
        is_file = Path(text).suffix.lower() in SUFFIXES or Path(text).exists()
    except (OSError, ValueError):  # no file can have such a name
        is_file = False
    if is_file:
        return load(text, **options)   # type: ignore[arg-type]
    hint = did_you_mean(kind, BUILTIN)
    raise ModelError(f"there is no built-in model {shown(kind)}, only {', '.join(BUILTIN)}, and no file of this "
                     f"name{hint}")


def check_root(root: str) -> None:
    """Raise a ValueError unless `root` is one of the three words."""
    if root not in ("auto", "fixed", "free"):
        raise ValueError(f"root must be 'auto', 'fixed' or 'free', not {root!r}")
