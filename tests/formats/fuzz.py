"""Loads damaged files in a process of its own, and watches what it opens: python fuzz.py FOLDER FIRST COUNT.

Exit code 0: every file loaded or was a ModelError, in time, and nothing outside the folder was opened.
"""

import random
import sys
import time
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

NASTY = [
    "", "nan", "inf", "-inf", "1e308", "-1e308", "1e400", "-1", "0", "0 0 0", "1 2", "1,5kg", "1e-320", "99999999999",
    "true", "../secret.stl", "/etc/passwd", "file:///etc/passwd", "http://localhost/x.stl", "package://x/../../secret.stl",
    "secret", "\u2028", "a" * 3000, "free", "ball", "mesh", "hfield", "sdf", "%s%n", "b", "l0", "j1", "world", "0 0 1",
    "1 0 0 0",
]
LIMIT = 5.0   # seconds a file may take


def damaged(text: bytes, rng: random.Random) -> bytes:
    """Damage a file, in its bytes or in its structure."""
    if rng.random() < 0.3:
        return damaged_bytes(text, rng)
    root = ET.fromstring(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        damage_structure(root, rng)
    return ET.tostring(root)


def damaged_bytes(text: bytes, rng: random.Random) -> bytes:
    data = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + rng.choice((1, 4, 50, len(data))))
        match rng.randrange(4):
            case 0:
                del data[at:to]
            case 1:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 1, 8))))
            case 2:
                data[at:at] = data[at : min(to, at + 2000)]
            case 3 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
        if not data:
            break
    return bytes(data)


def damage_structure(root: ET.Element, rng: random.Random) -> None:
    elements = list(root.iter())
    element, other = rng.choice(elements), rng.choice(elements)
    match rng.randrange(8):
        case 0 if len(element):
            element.remove(rng.choice(list(element)))
        case 1:
            if element not in other.iter() and other not in element.iter():
                other.insert(rng.randrange(len(other) + 1), element)
        case 2:
            element.append(ET.Element(other.tag, dict(other.attrib)))
        case 3:
            element.tag = other.tag
        case 4 if element.attrib:
            del element.attrib[rng.choice(sorted(element.attrib))]
        case 5 if other.attrib:
            name = rng.choice(sorted(other.attrib))
            element.set(name, other.get(name, ""))
        case _:
            names = [*sorted(element.attrib), "file", "name", "class", "type", "mass", "count", "scale"]
            element.set(rng.choice(names), rng.choice(NASTY))


def main(folder: Path, first: int, count: int) -> int:
    # What the libraries open on first use is opened before watching.
    import mujoco  # noqa: F401
    import trimesh  # noqa: F401

    import leastaction as la
    from leastaction.formats import findings

    warnings.simplefilter("ignore")
    seeds = sorted(path for path in (folder / "seeds").iterdir() if path.is_file() and path.stem != "damaged")
    for seed in seeds:
        la.load(seed, ignore=tuple(findings.WORDS))
        la.load(seed, ignore=tuple(findings.CHANGE_THE_MODEL))
    meshes = {path: path.read_bytes() for path in (folder / "seeds" / "meshes").iterdir() if path.suffix != ".inc"}
    opened: list[str] = []
    watching = False

    def watch(event: str, arguments: tuple) -> None:
        if watching and event in ("open", "os.listdir", "os.scandir", "socket.connect", "subprocess.Popen"):
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)
    loaded = 0
    for k in range(first, first + count):
        rng = random.Random(k)
        seed = rng.choice(seeds)
        path = folder / "seeds" / f"damaged{seed.suffix}"
        path.write_bytes(damaged(seed.read_bytes(), rng) if rng.random() < 0.85 else seed.read_bytes())
        for mesh, data in meshes.items():
            mesh.write_bytes(damaged_bytes(data, rng) if path.read_bytes() == seed.read_bytes() else data)
        print(k, flush=True)   # the last number printed is the file that crashed
        opened.clear()
        start, watching = time.process_time(), True
        try:
            la.load(path, ignore=tuple(findings.CHANGE_THE_MODEL), root=rng.choice(("auto", "free", "fixed")))
            loaded += 1
        except la.ModelError as error:
            assert str(error)
        finally:
            watching = False
            took = time.process_time() - start
        allowed = (folder / "seeds", Path(la.__file__).parent, Path(sys.prefix), Path(sys.base_prefix))
        outside = [name for name in opened if not any(Path(name).resolve().is_relative_to(place) for place in allowed)]
        if outside or took > LIMIT:
            print(f"file {k}: opened {outside}, took {took:.1f} s of CPU")
            return 1
    print(f"{loaded} of {count} loaded")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])))
