"""Files made to do harm, loaded in a process of their own.

`python -m attack.crafted FOLDER SEED` prints a line for each.
"""

import faulthandler
import os
import random
import sys
import warnings
from pathlib import Path

import leastaction as la
from leastaction.formats import findings

LIMIT = 5.0  # seconds that a file may take
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ARM = ('<robot name="r"><link name="a">{mesh}' + INERTIAL + '</link><link name="b">' + INERTIAL + '</link>'
       '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>')
MESH = '<{kind}><geometry><mesh filename="{name}"/></geometry></{kind}>'
BODY = '<worldbody><body name="b"><joint type="hinge"/><geom size="0.1" mass="1"/>{more}</body></worldbody>'
MJCF = "<mujoco>{head}" + BODY + "</mujoco>"
ENTITIES = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "ha"}">' for k in range(12))
WATCHED = ("open", "os.listdir", "os.scandir", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system",
           "os.exec", "os.posix_spawn", "ctypes.dlopen")


def references(inside: Path) -> list[str]:
    """Names by which a mesh may try to be something else."""
    outside = inside.parent / "secret.stl"
    up = [f"{'../' * k}{'/'.join(('x',) * n)}{'../' * n}secret.stl" for k in (1, 2, 3) for n in (0, 1)]
    return [*up, str(outside), f"file://{outside}", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/a.stl",
            "https://localhost/a.obj", "ftp://localhost/a.stl", "package://p/../../secret.stl", "package:///etc/passwd",
            "model://../secret.stl", "link.stl", "dirlink/secret.stl", "fifo.stl", "/dev/zero", "/dev/stdin", "dev.stl",
            "/proc/self/environ", "..\\secret.stl", "meshes/%2e%2e/secret.stl", "\u2025/secret.stl", "", ".", "..", "/",
            "a" * 9000 + ".stl", "bomb.stl", "bomb.ply", "bomb.off", "mtl.obj", "zip.dae", "liar.glb", "huge.obj"]


def lay_out(inside: Path) -> None:
    """Put traps beside the files."""
    inside.mkdir(parents=True)
    outside = inside.parent / "secret.stl"
    outside.write_text("solid s\nendsolid s\n")
    (inside / "link.stl").symlink_to(outside)
    (inside / "dirlink").symlink_to(inside.parent)
    (inside / "dev.stl").symlink_to("/dev/zero")
    os.mkfifo(inside / "fifo.stl")
    (inside / "bomb.stl").write_bytes(bytes(80) + b"\xff\xff\xff\xff" + bytes(50))
    (inside / "bomb.ply").write_text("ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n")
    (inside / "bomb.off").write_text("OFF\n4000000000 4000000000 0\n0 0 0\n")
    (inside / "mtl.obj").write_text("mtllib ../secret.mtl\nmtllib /etc/passwd\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (inside / "zip.dae").write_bytes(b"PK\x03\x04" + bytes(200))
    (inside / "liar.glb").write_bytes(b"glTF\x02\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7fJSON{}")
    (inside / "huge.obj").write_text("v 1e308 1e308 1e308\nv -1e308 0 0\nv 0 1e308 0\nf 1 2 3\nf 1 2 999999999\n")


def files(inside: Path) -> list[tuple[str, str, str]]:
    """Every crafted file: what it tries, its ending and its text."""
    made = [(f"mesh {name[:60]!r} as {kind}", "urdf", ARM.format(mesh=MESH.format(kind=kind, name=name)))
            for name in references(inside) for kind in ("visual", "collision")]
    for name in references(inside):
        asset = f'<asset><mesh name="m" file="{name}"/></asset>'
        more = '<geom type="mesh" mesh="m"/>'
        made.append((f"MJCF mesh {name[:60]!r}", "xml", MJCF.format(head=asset, more=more)))
        for head in (f'<include file="{name}"/>', f'<compiler meshdir="{name}"/>',
                     f'<asset><hfield file="{name}"/></asset>',
                     f'<asset><texture type="2d" file="{name}"/></asset>', f'<asset><skin file="{name}"/></asset>',
                     f'<asset><model name="x" file="{name}"/></asset>'):
            made.append((f"MJCF {head[:60]}", "xml", MJCF.format(head=head, more="")))
    for doctype in (f"<!DOCTYPE r [{ENTITIES}]>", '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
                    '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/r.dtd">',
                    '<!DOCTYPE r [<!ENTITY % p SYSTEM "/etc/passwd"> %p;]>'):
        made += [("DOCTYPE", "urdf", doctype + ARM.format(mesh="")), ("DOCTYPE", "xml", doctype + MJCF.format(
            head="<custom><text name='t' data='&e11;'/></custom>", more=""))]
    for more in ('<replicate count="100000000"><geom size="1"/></replicate>',
                 '<composite type="particle" count="9999 9999 9"/>',
                 '<flexcomp type="grid" count="9999 9999 9" name="f"/>', "<frame>" * 5000 + "</frame>" * 5000,
                 "<body>" * 3000 + "</body>" * 3000, '<plugin plugin="mujoco.elasticity.cable"/>'):
        made.append((f"MJCF {more[:40]}", "xml", MJCF.format(head="", more=more)))
    made += [("extension", "xml", MJCF.format(head='<extension><plugin plugin="x"/></extension>', more="")),
             ("deep URDF", "urdf", "<robot>" + "<link name='a'>" * 20000), ("nothing", "urdf", ""),
             ("nul", "xml", "\0" * 1000), ("long", "urdf", "<robot " + "a" * 10**6),
             ("UTF-16", "urdf", ARM.format(mesh="").encode("utf-16").decode("latin-1"))]
    return made


def is_outside(event: str, name: object, allowed: list[Path]) -> bool:
    """Tell whether something was opened that is in none of these folders, links followed; a number is open already."""
    if event not in ("open", "os.listdir", "os.scandir"):
        return True
    return isinstance(name, str | bytes | os.PathLike) and not any(
        Path(os.fsdecode(name)).resolve().is_relative_to(place) for place in allowed)


def main(folder: str, seed: int) -> int:
    import mujoco  # noqa: F401
    import trimesh  # noqa: F401

    warnings.simplefilter("ignore")
    inside = Path(folder).resolve() / "deep" / "inside"
    lay_out(inside)
    made = files(inside)
    random.Random(seed).shuffle(made)
    opened: list[tuple[str, object]] = []
    watching = False

    def watch(event: str, arguments: tuple) -> None:
        if watching and event in WATCHED:
            opened.append((event, arguments[0]))

    sys.addaudithook(watch)
    allowed = [inside, Path(la.__file__).parent, Path(sys.prefix), Path(sys.base_prefix)]
    first = inside / "first.urdf"   # what the libraries open on first use is opened before watching
    first.write_text(ARM.format(mesh=MESH.format(kind="visual", name="huge.obj")))
    la.load(first, ignore=tuple(findings.CHANGE_THE_MODEL))
    (inside / "first.xml").write_text(MJCF.format(head="", more=""))
    la.load(inside / "first.xml", ignore=tuple(findings.CHANGE_THE_MODEL))
    first.write_text(ARM.format(mesh=MESH.format(kind="visual", name="../secret.stl")))
    watching = True
    la.load(first, ignore=tuple(findings.CHANGE_THE_MODEL), allow_external=True)
    watching = False
    fires = any(is_outside(*entry, allowed) for entry in opened)
    print("clean the watch fires where it is allowed to read outside" if fires else "WRONG the watch sees nothing")
    for k, (what, ending, text) in enumerate(made):
        path = inside / f"crafted{k}.{ending}"
        path.write_text(text, encoding="latin-1" if "UTF-16" in what else "utf-8")
        opened.clear()
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        watching = True
        try:
            la.load(path, ignore=tuple(findings.CHANGE_THE_MODEL))
            outcome = "clean loaded without it"
        except la.ModelError as error:
            outcome = "clean ModelError" if str(error) else f"WRONG {what}: no words"
        except BaseException as error:
            outcome = f"WRONG {what}: {type(error).__name__}: {str(error)[:200]!r}"
        watching = False
        faulthandler.cancel_dump_traceback_later()
        outside = [entry for entry in opened if is_outside(*entry, allowed)]
        print(f"WRONG {what}: {outside[:3]}" if outside else outcome, flush=True)
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
