"""What publishing.toml says, as metadata of the package; run as a script, it lists the placeholders that are left."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = "publishing.toml"
UNNAMED = "The leastaction authors"
PICTURES = (".gif", ".jpg", ".png", ".svg")
# Code is matched first, so that nothing in it is taken for a link.
_LINK = re.compile(r"^```.*?^```$|`[^`\n]+`|(?P<before>\]\(|(?:src|href)=\")(?P<target>[^)\"\s]+)(?P<after>[)\"])",
                   re.DOTALL | re.MULTILINE)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def settings(root: Path = ROOT) -> dict[str, Any]:
    """Read publishing.toml."""
    return tomllib.loads((root / FILE).read_text(encoding="utf-8"))


def placeholders(given: dict[str, Any]) -> list[str]:
    """List the names whose values a person has yet to give."""
    return [name for name, value in given.items() if not value or "example.invalid" in value]


def relative(text: str) -> list[str]:
    """List the links and pictures of a Markdown page that are not absolute."""
    targets = [found["target"] for found in _LINK.finditer(text) if found["target"]]
    return [target for target in targets if not _ABSOLUTE.match(target)]


def absolute(text: str, given: dict[str, Any], version: str) -> str:
    """Make the links and pictures of a Markdown page at the root of the repository absolute."""

    def replaced(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or _ABSOLUTE.match(target):
            return found[0]
        page = given["picture" if target.lower().endswith(PICTURES) else "file"]
        path = f"README.md{target}" if target.startswith("#") else target.removeprefix("./")
        return f"{found['before']}{page.format(version=version, path=path)}{found['after']}"

    return _LINK.sub(replaced, text)


def metadata(version: str, root: Path = ROOT) -> dict[str, Any]:
    """Make the fields of [project] that depend on publishing.toml: readme, authors and urls."""
    given = settings(root)
    page = (root / "README.md").read_text(encoding="utf-8")
    return {
        "readme": {"content-type": "text/markdown", "text": absolute(page, given, version)},
        "authors": [{"name": name} for name in given["authors"] or [UNNAMED]],
        "urls": {
            "Documentation": given["documentation"],
            "Source": given["repository"],
            "Issues": given["issues"],
            "Changelog": given["file"].format(version=version, path="CHANGELOG.md"),
        },
    }


def main() -> None:
    """List the placeholders; with --refuse, fail if there are any."""
    given = settings()
    left = placeholders(given)
    for name in left:
        print(f"placeholder: {name} = {given[name]!r}")
    print(f"{len(left)} of {len(given)} values in {FILE} are placeholders"
          f"{': fill them in before publishing' if left else ''}.")
    if left and "--refuse" in sys.argv[1:]:
        sys.exit(1)


if __name__ == "__main__":
    main()
